import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

// Tests load ONNX Runtime in their own process, too: see packages/modules/src/network/no-telemetry.ts.
process.env.ORT_DISABLE_TELEMETRY ??= '1';

/**
 * `npm run test:all` runs what `npm test` leaves out or shortens, which a file says by its name or by these words, and
 * what does not ship.
 */
const rest = process.env.AKIN_TESTS === 'rest';
const LONG = /\.long\.test\.ts$/;
const LABORATORY = /^(lab|bench)\//;
const SHORTENED = /each\(ENGINES\)|scaledByChaos|inFull/;

function filesOfTheRest() {
  const folders = ['apps', 'packages', 'e2e', 'infra', 'lab', 'bench'];
  const files = folders.flatMap((folder) => filesOf(folder));
  return files.filter((file) => LONG.test(file) || LABORATORY.test(file) || SHORTENED.test(readFileSync(file, 'utf8')));
}

function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : filesOf(path);
    return path.endsWith('.test.ts') ? [path] : [];
  });
}

/** One run over all packages, so that the last line counts all tests. A package imports others as built (dist). */
export default {
  testEnvironment: '<rootDir>/packages/testing/dist/jest-environment.js',
  testMatch: rest ? filesOfTheRest().map((file) => `<rootDir>/${file}`) : ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', ...(rest ? [] : [LONG.source, '<rootDir>/(lab|bench)/'])],
  modulePathIgnorePatterns: ['/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  // The services that tests ask for (packages/testing), and the last line of the run.
  globalSetup: '<rootDir>/packages/testing/dist/jest-setup.js',
  globalTeardown: '<rootDir>/packages/testing/dist/jest-teardown.js',
  reporters: ['default', '<rootDir>/packages/testing/dist/jest-reporter.js'],
  // Real services on a busy machine: what hangs is found late rather than what is slow found wrong. No test has a limit
  // of its own.
  testTimeout: 600_000 * Math.max(1, Number(process.env.AKIN_CHAOS ?? 1)),
  // Tests often wait for processes and servers: two cores have work for three.
  maxWorkers: Math.max(3, availableParallelism() - 1),
  // Test files leave memory behind in their process: it is replaced when it holds so much. Also keeps them out of the
  // process that runs the services.
  workerIdleMemoryLimit: '1GB',
  // Its heap takes longer to take down than jest's half second, after which it warns of a leak. Nothing is left open.
  workerGracefulExitTimeout: 30_000,
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
};
