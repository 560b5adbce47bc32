import { readdirSync, readFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';

/** Describes this machine and its load in one line. */
export function describeMachine() {
  const [cpu] = cpus();
  const memory = (totalmem() / 1024 ** 3).toFixed(0);
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');
  return `${cpus().length} × ${cpu?.model ?? 'unknown processor'}, ${memory} GB, ${platform()} ${release()} ${arch()}, Node ${process.versions.node}; load ${load}`;
}

export const printMachine = () => console.log(describeMachine());

/** Bytes that a process has in memory now. Works only on Linux; NaN elsewhere. */
function residentBytes(pid) {
  const status = processStatus(pid);
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** Maximum number of bytes that a process has had in memory so far. Works only on Linux; NaN elsewhere. */
export function peakBytes(pid) {
  return Number(/^VmHWM:\s+(\d+)/m.exec(processStatus(pid))?.[1] ?? Number.NaN) * 1024;
}

/**
 * CPU seconds of a process and of its ended children. On a busy machine they say more than the elapsed time. Works only
 * on Linux.
 *
 * @param {number} pid
 * @param {boolean} children whether running children count too
 */
export function cpuSeconds(pid, children = false) {
  const pids = [pid];
  if (children) {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    pids.push(...all.map(Number).filter((one) => Number(statOf(one)[1]) === pid));
  }
  // The fields utime, stime, cutime and cstime, in hundredths of a second. The fields begin with the state.
  const ticks = pids.map((one) =>
    statOf(one)
      .slice(11, 15)
      .reduce((sum, value) => sum + Number(value), 0),
  );
  return ticks.reduce((sum, value) => sum + value, 0) / 100;
}

/** The fields of `/proc/<pid>/stat` after the name of the process: its state, its parent and so on. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

function processStatus(pid) {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Samples the memory of a process until it is stopped.
 *
 * @returns {() => number[]} a function that stops the sampling and returns all samples, in bytes
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
