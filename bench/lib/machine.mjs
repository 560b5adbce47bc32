import { readdirSync, readFileSync } from 'node:fs';
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

/** The most bytes that a process has held in memory so far. Read from Linux; NaN elsewhere. */
export function peakBytes(pid) {
  return Number(/^VmHWM:\s+(\d+)/m.exec(processStatus(pid))?.[1] ?? Number.NaN) * 1024;
}

/**
 * Seconds of a CPU that a process took, its ended children included: on a busy machine these say more than the clock.
 * Read from Linux; NaN elsewhere.
 *
 * @param {number} pid
 * @param {boolean} children those that run are counted too
 */
export function cpuSeconds(pid, children = false) {
  const pids = [pid];
  if (children) {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    pids.push(...all.map(Number).filter((one) => Number(statOf(one)[1]) === pid));
  }
  // utime, stime, cutime and cstime, in hundredths; counted from the state on, which is the first.
  const ticks = pids.map((one) =>
    statOf(one)
      .slice(11, 15)
      .reduce((sum, value) => sum + Number(value), 0),
  );
  return ticks.reduce((sum, value) => sum + value, 0) / 100;
}

/** What follows the name of a process: its state, its parent and so on. */
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
 * Samples a process until it is stopped.
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
