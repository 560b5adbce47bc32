// npm test [-- jest's arguments]: prepares the clone, then runs the tests. The last line is `N passed, N failed`.
// npm run test:all runs what that leaves out: the second engine, more kills and faults, and the longest stories.
import { endWithNpm, prepare, runInFront } from './prepare.mjs';

endWithNpm();
await prepare();
const args = process.argv.slice(2);
if (args[0] === '--rest') {
  args.shift();
  process.env.AKIN_TESTS = 'rest';
  process.env.AKIN_CHAOS = '1';
}
await runInFront([
  process.execPath,
  ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'],
  ...args,
]);
