import { readFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';

/** One line about where this runs, and how busy it was before the run began. */
export function describeMachine() {
  const [cpu] = cpus();
  const memory = (totalmem() / 1024 ** 3).toFixed(0);
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');
  return `${cpus().length} × ${cpu?.model ?? 'unknown processor'}, ${memory} GB, ${platform()} ${release()} ${arch()}, Node ${process.versions.node}; load ${load}`;
}

export const printMachine = () => console.log(describeMachine());

/** Bytes that a process holds in memory now. Read from Linux; NaN elsewhere. */
function residentBytes(pid) {
  const status = processStatus(pid);
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

function processStatus(pid) {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Looks at a process again and again until it is stopped.
 *
 * @returns {() => number[]} stops; what was seen, in bytes
 */
export function watchMemory(pid, milliseconds = 50) {
  const seen = [residentBytes(pid)];
  const timer = setInterval(() => seen.push(residentBytes(pid)), milliseconds);
  return () => {
    clearInterval(timer);
    seen.push(residentBytes(pid));
    return seen;
  };
}

export const megabytes = (bytes) => `${(bytes / 1024 ** 2).toFixed(0)} MB`;
