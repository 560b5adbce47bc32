import { totalmem } from 'node:os';

/** Bytes of memory that this process may use: the limit of its container (cgroup), else what the machine has. */
export function memoryLimit(): number {
  // 0 where there is no limit, and a number beyond all memory where there is none either.
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
