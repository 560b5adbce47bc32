// npm test [-- jest's arguments]: prepares the clone, then runs the tests. The last line is `N passed, N failed`.
import { endWithNpm, prepare, runInFront } from './prepare.mjs';

/** Each test file loads its modules anew, so V8 would optimize them again and again. Only Node 20 has this option. */
const OPTIMIZE_LATER = Number(process.versions.v8.split('.')[0]) < 12 ? ['--interrupt-budget=300000'] : [];

endWithNpm();
await prepare();
await runInFront([
  process.execPath,
  ...OPTIMIZE_LATER,
  ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'],
  ...process.argv.slice(2),
]);
