// npm start [-- arguments of `akin serve`]: prepares the clone, then serves.
import { intendedCommand } from './options-npm-kept.mjs';
import { endWithNpm, prepare, ROOT } from './prepare.mjs';

const meant = intendedCommand(process.env, process.argv.slice(2));
if (meant !== undefined) {
  process.stderr.write(`npm keeps options that have no -- before them. Write: ${meant}\n`);
  process.exit(1);
}
endWithNpm();
await prepare({ toServe: true });
process.stderr.write('Starting …\n');
// akin runs in this process, so that signals and the terminal reach it directly.
const program = `${ROOT}apps/akin/bin/akin.mjs`;
process.argv = [process.execPath, program, 'serve', ...process.argv.slice(2)];
await import(new URL('../../apps/akin/bin/akin.mjs', import.meta.url).href);
