import { KERNEL_BYTES } from './kernel-bytes.ts';
import { createPlainKernel, type Kernel } from './plain-kernel.ts';

let compiled: WebAssembly.Module | undefined | null;

/** Creates the kernel in WebAssembly, or in plain TypeScript if the machine has no SIMD. */
export function createKernel(memory: WebAssembly.Memory): Kernel {
  if (compiled === undefined) {
    const bytes = Buffer.from(KERNEL_BYTES, 'base64');
    compiled = WebAssembly.validate(bytes) ? new WebAssembly.Module(bytes) : null;
  }
  if (compiled === null) return createPlainKernel(memory);
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
