import { KERNEL_BYTES } from './kernel-bytes.ts';

/**
 * The inner loops of the module parts over one memory. Parameters that end in "At" are addresses in it, `from` and `to`
 * too. kernel/kernel.ts describes each function.
 */
export interface Kernel {
  resize(
    from: number,
    width: number,
    height: number,
    to: number,
    newWidth: number,
    newHeight: number,
    rowAt: number,
    columnsAt: number,
  ): void;
  blur(from: number, width: number, height: number, to: number, rowAt: number): void;
  corners(
    at: number,
    width: number,
    height: number,
    step: number,
    scoresAt: number,
    foundAt: number,
    outAt: number,
  ): number;
  moments(at: number, width: number, outAt: number): void;
  describe(at: number, width: number, pairsAt: number, count: number, outAt: number): void;
}

let compiled: WebAssembly.Module | undefined;

/** Creates the kernel. Each machine that runs akin has its SIMD instructions: sharp needs more of them. */
export function createKernel(memory: WebAssembly.Memory): Kernel {
  compiled ??= new WebAssembly.Module(Buffer.from(KERNEL_BYTES, 'base64'));
  return new WebAssembly.Instance(compiled, { env: { memory } }).exports as unknown as Kernel;
}
