import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { AkinError } from '@akin/domain';

/**
 * Backends that users can choose: WebAssembly, and ONNX Runtime if it is installed. No machine that runs akin lacks the
 * SIMD of WebAssembly, because sharp needs more of a processor.
 */
export const BACKENDS = ['wasm', 'onnx'] as const;

export type Backend = (typeof BACKENDS)[number];

/** Values of the option: a backend by name, or the fastest one that works on this machine. */
export const BACKEND_CHOICES = ['auto', ...BACKENDS] as const;
export type BackendChoice = Backend | 'auto';

/** akin does not install it; the user can add it. */
const ONNX_PACKAGE = 'onnxruntime-node';

/**
 * Checks whether a backend works on this machine. Loads the package of an optional backend.
 *
 * @throws {AkinError} conflict that says what to do if it does not work.
 */
export async function checkBackend(backend: Backend): Promise<void> {
  if (backend !== 'onnx') return;
  if (locatePackage(ONNX_PACKAGE) === undefined) {
    throw new AkinError(
      'conflict',
      `The backend "onnx" needs ${ONNX_PACKAGE}, which is not installed: install it, as docs/backends.md says, or use "wasm".`,
    );
  }
  await loadOnnxRuntime().catch((cause: Error) => {
    throw new AkinError('conflict', `${ONNX_PACKAGE} does not load here: ${cause.message}. Use the backend "wasm".`, {
      cause,
    });
  });
}

/**
 * Chooses the backend: `auto` takes ONNX Runtime if it is installed and can be loaded, otherwise WebAssembly.
 *
 * @returns The backend, and for `auto` the reason for it, as a phrase for users.
 */
export async function chooseBackend(
  choice: BackendChoice,
): Promise<{ readonly backend: Backend; readonly reason?: string }> {
  if (choice !== 'auto') return { backend: choice };
  if (locatePackage(ONNX_PACKAGE) === undefined) {
    return {
      backend: 'wasm',
      reason: 'onnxruntime-node, which is faster, is not installed: docs/backends.md says how',
    };
  }
  try {
    await loadOnnxRuntime();
    return { backend: 'onnx', reason: 'onnxruntime-node is installed' };
  } catch (error) {
    const [first] = String(error instanceof Error ? error.message : error).split('\n');
    return { backend: 'wasm', reason: `onnxruntime-node does not load here: ${first}` };
  }
}

/** Options of sessions of ONNX Runtime: pictures are processed in parallel, each by one thread. */
export const ONNX_OPTIONS = {
  executionProviders: ['cpu'],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
} as const;

/** Loads the package from the places where Node searches, including `NODE_PATH`. */
export async function loadOnnxRuntime(): Promise<unknown> {
  const file = locatePackage(ONNX_PACKAGE);
  if (file === undefined) throw new Error(`${ONNX_PACKAGE} is not installed.`);
  return import(file);
}

/** The URL from which to import an optional package; undefined if it is not installed. */
export function locatePackage(name: string): string | undefined {
  try {
    return pathToFileURL(createRequire(import.meta.url).resolve(name)).href;
  } catch {
    return undefined;
  }
}
