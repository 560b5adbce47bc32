// npm run eval, train and others: prepares the clone, then runs a program of it in front of the user.
// Usage: node infra/scripts/run.mjs <program> [its arguments]
import { endWithNpm, prepare, runInFront } from './prepare.mjs';

endWithNpm();
await prepare({ lab: true });
await runInFront([process.execPath, ...process.argv.slice(2)]);
