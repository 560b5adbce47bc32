// npm test [-- jest's arguments]: prepares the clone, then runs the tests. The last line is `N passed, N failed`.
import { endWithNpm, prepare, runInFront } from './prepare.mjs';

endWithNpm();
await prepare();
await runInFront([
  process.execPath,
  ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'],
  ...process.argv.slice(2),
]);
