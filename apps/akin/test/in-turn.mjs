// Runs commands one after the other in one process, because each process takes half a second to load akin. Each line of
// standard input is a list of arguments as JSON, and is answered by a line: what the command said, and its exit code.
import { createInterface } from 'node:readline';

const main = new URL('../dist/main.js', import.meta.url);
const answer = process.stdout.write.bind(process.stdout);
let said = {};

/** What main.js registers once in its life is here registered once for each command. */
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0);

for (const [stream, name] of [
  [process.stdout, 'out'],
  [process.stderr, 'err'],
]) {
  stream.write = (chunk, encoding, written = encoding) => {
    said[name].push(Buffer.from(chunk));
    if (typeof written === 'function') process.nextTick(written);
    return true;
  };
}

let number = 0;
for await (const line of createInterface({ input: process.stdin })) {
  said = { out: [], err: [] };
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...JSON.parse(line));
  process.exitCode = undefined;
  // Another address is another module: its first line to its last run again, and what it imports does not.
  await import(`${main}?${number++}`);
  const [out, err] = [said.out, said.err].map((chunks) => Buffer.concat(chunks).toString());
  answer(`${JSON.stringify({ code: process.exitCode ?? 0, out, err })}\n`);
}
process.exit(0);
