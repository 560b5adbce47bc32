import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CommandsInTurn, type EndedCommand, SHORT_LIVED } from '@akin/testing';
import { afterAll } from '@jest/globals';

/** Arguments as in a shell. */
export const PROGRAM = fileURLToPath(new URL('../bin/akin.mjs', import.meta.url));
const IN_TURN = fileURLToPath(new URL('in-turn.mjs', import.meta.url));

interface Options {
  readonly input?: string;
  readonly cwd?: string;
  readonly threads?: number;
  /** In addition to that of the test; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs the built command to its end, as a shell would.
 *
 * @param options.threads analysis threads: each loads the models, which takes longer than the few pictures of a test
 */
export async function runAkin(args: readonly string[], options: Options = {}): Promise<EndedCommand> {
  const child = spawn(process.execPath, [...SHORT_LIVED, PROGRAM, ...args], {
    env: { ...process.env, AKIN_THREADS: String(options.threads ?? 1), ...options.env },
    ...(options.cwd ? { cwd: options.cwd } : {}),
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  child.stdin.on('error', () => {}).end(options.input ?? '');
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  return { code, out, err };
}

let shared: CommandsInTurn | undefined;
afterAll(async () => shared?.[Symbol.asyncDispose]());

/** Runs commands one after the other, in a process that all of a test file share: see {@link CommandsInTurn}. */
export function runInTurn(...commands: readonly (readonly string[])[]): Promise<EndedCommand[]> {
  shared ??= commandsInTurn();
  return Promise.all(commands.map((args) => (shared as CommandsInTurn).run(args)));
}

/** A process of its own for commands in turn. */
export function commandsInTurn(env: Readonly<Record<string, string>> = {}): CommandsInTurn {
  return new CommandsInTurn(IN_TURN, { ...process.env, AKIN_THREADS: '1', ...env });
}
