import { KERNEL_BYTES } from './kernel-bytes.ts';
import { createPlainKernel, type Kernel } from './plain-kernel.ts';

/** The kernel in WebAssembly, or in plain TypeScript if the machine has no SIMD. */
export function createKernel(memory: WebAssembly.Memory): Kernel {
  const bytes = Buffer.from(KERNEL_BYTES, 'base64');
  if (!WebAssembly.validate(bytes)) return createPlainKernel(memory);
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } }).exports as unknown as Kernel;
}
