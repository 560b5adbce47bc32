import { KERNEL_BYTES } from './kernel-bytes.ts';
import { createPlainKernel, type Kernel } from './plain-kernel.ts';

let compiled: WebAssembly.Module | undefined | null;

/** The kernel in WebAssembly; in plain TypeScript where the machine has no SIMD. */
export function createKernel(memory: WebAssembly.Memory): Kernel {
  if (compiled === undefined) {
    const bytes = Buffer.from(KERNEL_BYTES, 'base64');
    compiled = WebAssembly.validate(bytes) ? new WebAssembly.Module(bytes) : null;
  }
  if (compiled === null) return createPlainKernel(memory);
  return new WebAssembly.Instance(compiled, { env: { memory } }).exports as unknown as Kernel;
}

const PAGE = 65_536;

/** What a memory of at least a number of bytes takes. */
export function memoryBytes(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / PAGE)) * PAGE;
}

/** A memory of at least a number of bytes, all zero. */
export function createMemory(bytes: number): WebAssembly.Memory {
  const pages = memoryBytes(bytes) / PAGE;
  return new WebAssembly.Memory({ initial: pages, maximum: pages });
}
