import { KERNEL_BYTES } from './kernel-bytes.ts';

/**
 * The inner loops of the searcher over one memory. Parameters that end in "At" are addresses in this memory, multiples
 * of 16. kernel/kernel.ts describes each function.
 */
export interface Kernel {
  nearSigns(
    codesAt: number,
    bytes: number,
    rows: number,
    maskAt: number,
    tablesAt: number,
    max: number,
    outAt: number,
  ): number;
  levelDots(
    levelsAt: number,
    stride: number,
    factorsAt: number,
    rowsAt: number,
    count: number,
    queryAt: number,
    outAt: number,
  ): void;
  squares(vectorsAt: number, stride: number, rows: number, maskAt: number, queryAt: number, outAt: number): void;
  rotate(at: number, signsAt: number, length: number): void;
  signBits(at: number, count: number, outAt: number): number;
  encodeLevels(at: number, count: number, step: number, outAt: number, factorsAt: number): void;
  nearCodes(codesAt: number, bytes: number, count: number, queryAt: number, most: number, outAt: number): number;
  nearestCodes(codesAt: number, count: number, queryAt: number, wanted: number, outAt: number): void;
}

let compiled: WebAssembly.Module | undefined;

/** Creates the kernel. Each machine that runs akin has its SIMD instructions: sharp needs more of them. */
export function createKernel(memory: WebAssembly.Memory): Kernel {
  compiled ??= new WebAssembly.Module(Buffer.from(KERNEL_BYTES, 'base64'));
  return new WebAssembly.Instance(compiled, { env: { memory } }).exports as unknown as Kernel;
}

const PAGE = 65_536;

/** The size of a WebAssembly memory with at least this many bytes. */
export function memoryBytes(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / PAGE)) * PAGE;
}

/** Creates a memory of at least this many bytes, all zero. */
export function createMemory(bytes: number): WebAssembly.Memory {
  const pages = memoryBytes(bytes) / PAGE;
  return new WebAssembly.Memory({ initial: pages, maximum: pages });
}
