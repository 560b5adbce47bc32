import { fileURLToPath } from 'node:url';
import { describe, it } from '@jest/globals';
import { run } from './shell.ts';

const CLIENT = fileURLToPath(new URL('../../clients/python', import.meta.url));
const PYTHON = {
  install: 'apt-get install python3',
  env: { ...process.env, PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: '1' },
};

describe('the client for Python', () => {
  it('passes its own tests', async () => {
    // -W error: nothing of it is deprecated.
    const tests = ['-W', 'error', '-m', 'unittest', 'discover', '-s', 'tests'];
    await run('python3', tests, { ...PYTHON, cwd: CLIENT });
  });
});
