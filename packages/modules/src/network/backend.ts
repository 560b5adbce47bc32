import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { AkinError } from '@akin/domain';

/** The engines to choose from: WebAssembly, ONNX Runtime and TensorFlow's C library, the last two if installed. */
export const BACKENDS = ['wasm', 'onnx', 'node'] as const;

/** What runs the network. Those that nobody chooses, because they are slow, are there to be compared with. */
export type Backend = (typeof BACKENDS)[number] | 'wasm-plain' | 'cpu';

/** What can be asked for: a backend by name, or the fastest that runs here. */
export const BACKEND_CHOICES = ['auto', ...BACKENDS] as const;
export type BackendChoice = Backend | 'auto';

/** Not installed with akin: found only where the user added it. */
const PACKAGES: Partial<Record<Backend, string>> = { onnx: 'onnxruntime-node', node: '@tensorflow/tfjs-node' };

/** The types of Node leave it out. */
declare const WebAssembly: { validate(bytes: Uint8Array): boolean };

/** A module whose only function uses a 128-bit instruction: valid only where WebAssembly has SIMD. */
const SIMD_PROBE = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  // One type: no parameters, a v128 as result; one function of that type.
  ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b, 0x03, 0x02, 0x01, 0x00],
  // Its body: i32.const 0, i8x16.splat, end.
  ...[0x0a, 0x08, 0x01, 0x06, 0x00, 0x41, 0x00, 0xfd, 0x0f, 0x0b],
);

/**
 * Looks whether a backend can run here. Of those that were added, the package is loaded.
 *
 * @throws {AkinError} conflict that says what to do when it cannot.
 */
export async function checkBackend(backend: Backend): Promise<void> {
  if (backend === 'wasm' && !WebAssembly.validate(SIMD_PROBE)) {
    throw new AkinError(
      'conflict',
      'This machine runs WebAssembly without SIMD, on which an analysis takes 4 to 6 times as long. Use a newer processor or Node, or the backend "onnx".',
    );
  }
  const name = PACKAGES[backend];
  if (name === undefined) return;
  if (locate(name) === undefined) {
    throw new AkinError(
      'conflict',
      `The backend "${backend}" needs ${name}, which is not installed: install it, as docs/backends.md says, or use "wasm".`,
    );
  }
  await loadPackageOf(backend as 'onnx' | 'node').catch((cause: Error) => {
    throw new AkinError('conflict', `${name} does not load here: ${cause.message}. Use the backend "wasm".`, { cause });
  });
}

/**
 * Chooses the backend: `auto` takes ONNX Runtime where it is installed and loads, else WebAssembly.
 *
 * @returns The backend, and for `auto` the reason for it, as a phrase for people.
 */
export async function chooseBackend(
  choice: BackendChoice,
): Promise<{ readonly backend: Backend; readonly reason?: string }> {
  if (choice !== 'auto') return { backend: choice };
  if (locate(PACKAGES.onnx as string) === undefined) {
    return { backend: 'wasm', reason: 'onnxruntime-node, which is faster, is not installed' };
  }
  try {
    await loadPackageOf('onnx');
    return { backend: 'onnx', reason: 'onnxruntime-node is installed' };
  } catch (error) {
    const [first] = String(error instanceof Error ? error.message : error).split('\n');
    return { backend: 'wasm', reason: `onnxruntime-node does not load here: ${first}` };
  }
}

/** Loads the package that a backend needs, wherever Node finds it from here, `NODE_PATH` included. */
export async function loadPackageOf(backend: 'onnx' | 'node'): Promise<unknown> {
  const file = locate(PACKAGES[backend] as string);
  if (file === undefined) throw new Error(`${PACKAGES[backend]} is not installed.`);
  return import(pathToFileURL(file).href);
}

/** The address to import a package from that only some installations have; undefined in those that have not. */
export function locatePackage(name: string): string | undefined {
  const file = locate(name);
  return file && pathToFileURL(file).href;
}

export function packageMissing(name: string): AkinError {
  return new AkinError(
    'conflict',
    `This content model needs ${name}, which is not installed. Run: npm install --ignore-scripts ${name}`,
  );
}

function locate(name: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return undefined;
  }
}
