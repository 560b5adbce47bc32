import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const run = promisify(execFile);

/**
 * Analyzes a picture in a new process and returns whether TensorFlow.js was loaded; its engine is a global variable.
 */
async function loadedBy(modules: string): Promise<boolean> {
  const script = `
    import { readFile } from 'node:fs/promises';
    import { analyzeImage } from ${JSON.stringify(new URL('../../dist/analyze.js', import.meta.url).href)};
    const bytes = await readFile(new URL(${JSON.stringify(new URL('../../test/pictures/plain.jpg', import.meta.url).href)}));
    const { outputs } = await analyzeImage(bytes, { modules: ${JSON.stringify(modules.split(','))} });
    if (!outputs.includes(${JSON.stringify(modules.split(',')[0])})) throw new Error(outputs);
    console.log(globalThis._tfengine !== undefined);`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  return stdout.trim() === 'true';
}

describe('TensorFlow', () => {
  it.each([
    ['color,copyspace', false],
    ['content', true],
  ])('with modules.apply=%s is loaded: %p', async (modules, loaded) => {
    expect(await loadedBy(modules)).toBe(loaded);
  });
});
