import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createAnalyzer } from '../analyzer/create-analyzer.ts';
import { checkBackend } from './backend.ts';

/** The types of Node leave it out. */
declare const WebAssembly: { validate(bytes: Uint8Array): boolean };

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the check of the backend', () => {
  it('finds SIMD here', async () => {
    await expect(checkBackend('wasm')).resolves.toBeUndefined();
  });

  it('stops the start where WebAssembly has no SIMD', async () => {
    jest.spyOn(WebAssembly, 'validate').mockReturnValue(false);
    await expect(createAnalyzer({ threads: 1 })).rejects.toThrow('WebAssembly without SIMD');
  });

  it('stops the start when tfjs-node is asked for and not installed', async () => {
    await expect(createAnalyzer({ threads: 1, backend: 'node' })).rejects.toThrow(
      'The backend "node" needs @tensorflow/tfjs-node, which is not installed: install it',
    );
  });
});
