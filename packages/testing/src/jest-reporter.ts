import { readFileSync, writeSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type FileTime, processorSeconds, TIMES } from './jest-environment.ts';

/** The part of jest's results that is used here. */
interface Results {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
  readonly numTotalTestSuites: number;
}

/** How many of the dearest files are listed, if more were run. */
const LISTED = 10;

/**
 * Lists the dearest files of a large run, by CPU time, and ends every run with the line `N passed, N failed`, after all other output.
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
      writeSync(1, `${processorSeconds().toFixed(0)} CPU seconds\n`);
      writeSync(1, `${this.#passed} passed, ${failed} failed\n`);
    });
  }

  onRunComplete(_contexts: unknown, results: Results): void {
    this.#passed = results.numPassedTests;
    this.#failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    if (results.numTotalTestSuites > LISTED) writeSync(1, dearest());
  }
}

function dearest(): string {
  const lines = readFileSync(join(process.env.TMPDIR ?? '', TIMES), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as FileTime)
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, LISTED)
    .map(({ path, seconds }) => `  ${seconds.toFixed(0).padStart(4)} s  ${relative('.', path)}\n`);
  return `\nThe dearest files, in CPU seconds, without the servers that they share:\n${lines.join('')}`;
}
