// npm run chaos [-- --factor 20 --seed 7]: prepares the clone, then kills and breaks parts under load for long.
import { parseArgs } from 'node:util';
import { endWithNpm, prepare, runInFront } from './prepare.mjs';

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    factor: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1e6) },
  },
});
if (values.help) {
  console.log(
    'npm run chaos [-- --factor 20 --seed 7]: kills and breaks parts under load, so many times as often as test:all.',
  );
  console.log('The seed chooses the order of faults; another one each time when not given.');
  process.exit();
}
endWithNpm();
await prepare();
console.log(`Seed ${values.seed}`);
process.env.AKIN_TESTS = 'rest';
process.env.AKIN_CHAOS = values.factor;
process.env.AKIN_CHAOS_SEED = values.seed;
await runInFront([
  process.execPath,
  ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'],
  ...['e2e/src/chaos.long.test.ts', 'e2e/src/crash.long.test.ts', 'e2e/src/sharded-fleet.long.test.ts'],
  ...['packages/store/src/changes/commit/kill.long.test.ts', 'packages/store/src/changes/commit/model.test.ts'],
  'packages/store/src/database/engine/thread-kill.test.ts',
]);
