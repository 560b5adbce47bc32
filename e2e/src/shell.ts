import { spawn } from 'node:child_process';

interface RunOptions {
  readonly cwd?: string;
  /** The whole environment of the program; by default that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** What to install when the program is missing. */
  readonly install?: string;
}

/**
 * Runs a program to its end and returns its output.
 * @throws Error with its output if it fails, or with what to install if it is missing
 */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, out, err } = await outcomeOf(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${out}${err}`);
  return out;
}

/** The same for a program that may fail. */
export async function outcomeOf(
  program: string,
  args: readonly string[],
  { install, ...options }: RunOptions = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve).once('error', (error: NodeJS.ErrnoException) => {
      const missing = error.code === 'ENOENT' && install;
      reject(missing ? new Error(`${program} is missing: ${install}`) : error);
    });
  });
  return { code, out, err };
}

/** Pastes a command into a shell and reads its output as JSON. */
export async function pasteJson(command: string, cwd?: string) {
  const text = await run('sh', ['-c', command], { install: 'apt-get install curl', ...(cwd ? { cwd } : {}) });
  return JSON.parse(text);
}
