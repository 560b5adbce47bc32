// Runs commands one after the other in one process, because each process takes half a second to load akin. Reads
// lists of arguments as JSON, and writes what each command said and its exit code.
import { text } from 'node:stream/consumers';

const main = new URL('../dist/main.js', import.meta.url);
const write = process.stdout.write.bind(process.stdout);

/** What main.js registers once in its life is here registered once for each command. */
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0);

const ended = [];
for (const [number, args] of JSON.parse(await text(process.stdin)).entries()) {
  const said = { out: '', err: '' };
  for (const [stream, name] of [
    [process.stdout, 'out'],
    [process.stderr, 'err'],
  ]) {
    stream.write = (chunk) => {
      said[name] += chunk;
      return true;
    };
  }
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...args);
  process.exitCode = undefined;
  // Another address is another module: its first line to its last run again, and what it imports does not.
  await import(`${main}?${number}`);
  ended.push({ code: process.exitCode ?? 0, ...said });
}
process.exitCode = 0;
write(JSON.stringify(ended));
