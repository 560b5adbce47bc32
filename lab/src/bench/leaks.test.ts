import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const LEAKS = fileURLToPath(new URL('../../dist/bench/leaks.js', import.meta.url));

it('many analyses leave no tensor behind, and no memory', async () => {
  // A small number; `npm run bench-leaks` analyzes 10,000, which takes some minutes.
  const { stdout } = await promisify(execFile)(process.execPath, [LEAKS, '100']);
  expect(stdout).toContain('It does not grow.');
});
