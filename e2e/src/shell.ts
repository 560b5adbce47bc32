import { spawn } from 'node:child_process';

/**
 * Runs a program to its end and gives what it printed.
 * @throws Error with everything that it printed when it fails, or with what to install when it is missing
 */
export async function run(
  program: string,
  args: readonly string[],
  options: { cwd?: string; install?: string } = {},
): Promise<string> {
  const child = spawn(program, args, {
    ...(options.cwd ? { cwd: options.cwd } : {}),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  const code = await new Promise((resolve, reject) => {
    child.once('close', resolve).once('error', (error: NodeJS.ErrnoException) => {
      const missing = error.code === 'ENOENT' && options.install;
      reject(missing ? new Error(`${program} is missing: ${options.install}`) : error);
    });
  });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${out}${err}`);
  return out;
}

/** Pastes a command into a shell and reads its answer as JSON. */
export async function pasteJson(command: string, cwd?: string) {
  const text = await run('sh', ['-c', command], { install: 'apt-get install curl', ...(cwd ? { cwd } : {}) });
  return JSON.parse(text);
}
