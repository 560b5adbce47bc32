import { writeSync } from 'node:fs';
import { relative } from 'node:path';

/** The part of jest's results that is used here. */
interface Results {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
  readonly testResults: readonly {
    readonly testFilePath: string;
    readonly perfStats: { readonly start: number; readonly end: number };
  }[];
}

/** How many of the slowest files are listed, if more were run. */
const SLOWEST = 12;

/**
 * Lists the slowest files of a large run and ends every run with the line `N passed, N failed`, after all other output.
 * A test file that cannot be loaded counts as one failed test. The exit code agrees with this line: a run that fails
 * for another reason (set-up, crash) counts as one failure.
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
    if (results.testResults.length > SLOWEST) writeSync(1, slowestOf(results));
  }
}

function slowestOf({ testResults }: Results): string {
  const lines = testResults
    .map(({ testFilePath, perfStats: { start, end } }) => ({
      file: relative('.', testFilePath),
      seconds: (end - start) / 1000,
    }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST)
    .map(({ file, seconds }) => `  ${seconds.toFixed(0).padStart(4)} s  ${file}\n`);
  return `\nThe slowest files:\n${lines.join('')}`;
}
