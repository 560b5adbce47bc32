import { writeSync } from 'node:fs';

/** The part of jest's results that counts. */
interface Results {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
}

/**
 * Ends a run with the plain line `N passed, N failed`, after whatever else jest prints. A test file that cannot be
 * loaded counts as one failed test. The exit code agrees with the line: a run that fails for another reason (a
 * set-up, a crash) counts one failure.
 */
export default class LastLineReporter {
  #passed = 0;
  #failed = 0;

  constructor() {
    process.once('exit', (code) => {
      const failed = code !== 0 ? Math.max(1, this.#failed) : this.#failed;
      if (failed > 0) process.exitCode = code || 1;
      writeSync(1, `${this.#passed} passed, ${failed} failed\n`);
    });
  }

  onRunComplete(_contexts: unknown, results: Results): void {
    this.#passed = results.numPassedTests;
    this.#failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
  }
}
