import { createRequire } from 'node:module';

/** Which engine runs the network: WebAssembly, or TensorFlow's C library if the user installed tfjs-node. */
export type Backend = 'wasm' | 'node';

/** Not a dependency: found only where the user installed it. */
export const NODE_BACKEND = '@tensorflow/tfjs-node';

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

/** Throws an Error that says what to do when a backend cannot run here. Loads nothing. */
export function checkBackend(backend: Backend): void {
  if (backend === 'wasm' && !WebAssembly.validate(SIMD_PROBE)) {
    throw new Error(
      'This machine runs WebAssembly without SIMD, on which an analysis takes 4 to 6 times as long. Use a newer processor or Node.',
    );
  }
  if (backend === 'node' && !isInstalled(NODE_BACKEND)) {
    throw new Error(`The backend "node" needs ${NODE_BACKEND}, which is not installed: install it, or use "wasm".`);
  }
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
