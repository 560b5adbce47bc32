import { totalmem } from 'node:os';

/**
 * Bytes of memory that this process may use: the limit of its container (cgroup), or else the memory of the machine.
 */
export function memoryLimit(): number {
  // 0 without a limit; cgroups without one may also report a number beyond all memory.
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
