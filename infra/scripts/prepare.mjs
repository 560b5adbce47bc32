// Prepares a clone to run: installs what the lockfile names, and builds what has changed. It needs only Node and npm.
// It installs nothing outside of this folder and npm's cache.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, packagesToBuild } from './build.mjs';

/** The stamp of an installation without tools for tests and lint begins with this. */
const PART = 'to serve ';
/** Interval of the progress messages of a long step, in milliseconds. */
const PROGRESS_MILLISECONDS = 3_000;

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Installs and builds. A second call takes a second or two if nothing has changed. If it fails, it ends the process.
 *
 * @param {{ toServe?: boolean, lab?: boolean }} options with `toServe`, a clone without an installation gets only what
 * serving needs; with `lab`, the laboratory is built too
 */
export async function prepare({ toServe = false, lab = false } = {}) {
  requireNode();
  const { packageManager } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  const npx = ['npx', '--yes', `--package=${packageManager}`, '--'];
  const stampFile = `${ROOT}node_modules/.akin-installed`;
  const installed = readOrEmpty(stampFile);
  const part = toServe && (installed === '' || installed.startsWith(PART)) ? PART : '';
  const stamp = `${part}${lockStamp()}`;
  if (installed !== stamp) {
    rmSync(stampFile, { force: true });
    await step(part ? 'Installing what serving needs' : 'Installing what pnpm-lock.yaml names', [
      ...npx,
      ...['pnpm', 'install', '--frozen-lockfile', '--config.confirmModulesPurge=false', '--reporter=append-only'],
      // The laboratory, benchmarks and tests need packages of their own.
      ...(part ? ['--prod', '--filter-prod=@akin/root...'] : []),
    ]);
    writeFileSync(stampFile, stamp);
  }
  const packages = toServe ? ['apps/akin'] : [...packagesToBuild(ROOT), ...(lab ? ['lab'] : [])];
  await runStep('Building what has changed', (run) =>
    build(ROOT, packages, (args) => run([process.execPath, ...args])),
  );
}

/**
 * Runs a program in front of the user, and passes signals on. It ends this process as the program ended.
 *
 * @param {readonly string[]} command program and arguments
 */
export async function runInFront(command) {
  const { code, signal } = await ended(start(command, 'inherit'));
  if (signal !== null) process.kill(process.pid, signal);
  process.exitCode = code ?? 1;
}

/**
 * Ends this process by SIGTERM if a signal has ended npm. npm runs it through a shell and passes the signal to that
 * shell, which dies without passing it on.
 */
export function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const shell = process.ppid;
  setInterval(() => {
    if (process.ppid !== shell) process.kill(process.pid, 'SIGTERM');
  }, 500).unref();
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if ((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22) return;
  console.error(
    `akin needs Node 20.19 or newer of 20, 22.12 or newer of 22, or 24. This is Node ${process.versions.node}
(${process.execPath}). Get a newer one from https://nodejs.org/ or with your version manager, for example
  nvm install 24`,
  );
  process.exit(1);
}

/** Hash of what an installation depends on: the platform, the lock file and the workspace file. */
function lockStamp() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) hash.update(readFileSync(`${ROOT}${file}`));
  return hash.digest('hex');
}

/** Runs one command as a step. */
function step(title, command) {
  return runStep(title, (run) => run(command));
}

/**
 * Prints the name of a step, its progress and its time. The output of its commands is shown if one fails.
 *
 * @param {string} title
 * @param {(run: (command: string[]) => Promise<void>) => Promise<void>} work gets a function that runs a command
 */
async function runStep(title, work) {
  const from = Date.now();
  const seconds = (digits) => `${((Date.now() - from) / 1000).toFixed(digits)} s`;
  process.stderr.write(`${title} …`);
  let last = '';
  const telling = setInterval(() => {
    const [, added] = last.match(/added (\d+)/) ?? [];
    process.stderr.write(` ${seconds(0)}${added ? ` (${added} packages)` : ''} …`);
  }, PROGRESS_MILLISECONDS);
  const run = async (command) => {
    const child = start(command, 'pipe');
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        said += text;
        last = text;
      });
    }
    const { code, signal } = await ended(child);
    if (code === 0) return;
    clearInterval(telling);
    process.stderr.write(`\n${said}\nThis failed (${signal ?? `exit code ${code}`}): ${command.join(' ')}\n`);
    process.exit(1);
  };
  await work(run);
  clearInterval(telling);
  process.stderr.write(` ${seconds(1)}\n`);
}

function start([program, ...args], output) {
  return spawn(program, args, {
    cwd: ROOT,
    stdio: ['ignore', output, output],
    // On Windows npx is a script that only a shell can start.
    shell: process.platform === 'win32',
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
  });
}

/** Waits for a child process. Signals to this process are passed to the child, whose exit ends this process too. */
async function ended(child) {
  const forwardSignal = (signal) => child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, forwardSignal);
  const result = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  for (const signal of signals) process.off(signal, forwardSignal);
  return result;
}

function readOrEmpty(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await prepare();
