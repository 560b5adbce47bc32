// npm test [-- jest's arguments]: prepares the clone, then runs the tests. The last line is `N passed, N failed`.
// npm run test:all runs what that leaves out: the second engine, more kills and faults, the longest stories, and the
// laboratory and its benchmarks.
import { endWithNpm, prepare, runInFront } from './prepare.mjs';

endWithNpm();
const args = process.argv.slice(2);
const rest = args[0] === '--rest';
await prepare({ lab: rest });
if (rest) {
  args.shift();
  process.env.AKIN_TESTS = 'rest';
  process.env.AKIN_CHAOS = '1';
}
await runInFront([
  process.execPath,
  // Node 20 aborts when a thread ends while V8 optimizes one of its functions in the background.
  '--no-concurrent-recompilation',
  ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'],
  ...args,
]);
