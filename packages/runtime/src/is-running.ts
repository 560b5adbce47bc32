/**
 * Whether a process with this number exists, of any user. It may be a zombie, or another process that reuses the
 * number.
 */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
