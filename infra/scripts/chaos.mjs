// npm run chaos [-- --minutes 30 --seed 7]: prepares the clone, then kills parts of a fleet under load for so long.
import { parseArgs } from 'node:util';
import { endWithNpm, prepare, runInFront } from './prepare.mjs';

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1e6) },
  },
});
if (values.help) {
  console.log('npm run chaos [-- --minutes 10 --seed 7]: kills parts of a fleet under load for so long.');
  console.log('The seed chooses the faults; another one each time when not given.');
  process.exit();
}
endWithNpm();
await prepare();
console.log(`Seed ${values.seed}`);
process.env.AKIN_CHAOS_MINUTES = values.minutes;
process.env.AKIN_CHAOS_SEED = values.seed;
await runInFront([
  process.execPath,
  ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'],
  'e2e/src/chaos.test.ts',
]);
