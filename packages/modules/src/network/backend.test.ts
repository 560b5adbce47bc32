import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { createAnalyzer } from '../analyzer/create-analyzer.ts';

describe('the check of the backend', () => {
  it('takes ONNX Runtime for auto where it is installed, and says why', async () => {
    await using analyzer = await createAnalyzer({ threads: 1, backend: 'auto' });
    expect([analyzer.backend, analyzer.backendReason]).toEqual(['onnx', 'onnxruntime-node is installed']);
  });

  it.each([
    ['is not installed', undefined, 'onnxruntime-node, which is faster, is not installed: docs/backends.md says how'],
    [
      'does not load',
      "throw new Error('no such library\\nmore')",
      'onnxruntime-node does not load here: no such library',
    ],
  ])('takes WebAssembly for auto where ONNX Runtime %s', async (_, source, reason) => {
    // A copy of the file in another folder, so that Node searches for the package there.
    const folder = await mkdtemp(join(tmpdir(), 'akin-backend-'));
    try {
      const built = new URL('../../dist/network/backend.js', import.meta.url);
      const text = (await readFile(built, 'utf8')).replace(
        /["']@akin\/domain["']/,
        JSON.stringify(import.meta.resolve('@akin/domain')),
      );
      await writeFile(join(folder, 'backend.mjs'), text);
      if (source !== undefined) {
        await mkdir(join(folder, 'node_modules', 'onnxruntime-node'), { recursive: true });
        await writeFile(join(folder, 'node_modules', 'onnxruntime-node', 'index.js'), source);
      }
      const { checkBackend, chooseBackend } = await import(pathToFileURL(join(folder, 'backend.mjs')).href);
      expect(await chooseBackend('auto')).toEqual({ backend: 'wasm', reason });
      await expect(checkBackend('onnx')).rejects.toThrow(/is not installed: install it|no such library/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
