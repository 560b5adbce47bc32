import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AkinRequestError, type Client, type Collection, createClient, type FoundDocument } from '@akin/client';
import {
  CommandsInTurn,
  copyTemplate,
  type EndedCommand,
  SHORT_LIVED,
  type TestDatabase,
  testDatabase,
} from '@akin/testing';
import { afterAll, expect } from '@jest/globals';

/** The command, to be run by Node. */
export const PROGRAM = fileURLToPath(new URL('../../apps/akin/bin/akin.mjs', import.meta.url));

const IN_TURN = fileURLToPath(new URL('../../apps/akin/test/in-turn.mjs', import.meta.url));

export interface ExitResult extends EndedCommand {
  /** The signal that killed it, if its code is null. */
  readonly signal: NodeJS.Signals | null;
}

/** A command that runs. */
export class RunningCommand {
  out = '';
  err = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<ExitResult>;
  /** Conditions that wait for output; checked again whenever there is more. */
  readonly #waiting = new Set<() => void>();

  constructor(
    args: readonly string[],
    options: {
      env?: NodeJS.ProcessEnv;
      cwd?: string;
      input?: string | Buffer;
      /** After the input comes nothing, and no end. */
      isInputOpen?: boolean;
      program?: string;
    } = {},
  ) {
    this.#child = spawn(process.execPath, [...SHORT_LIVED, options.program ?? PROGRAM, ...args], {
      env: { ...settings(), ...options.env },
      ...(options.cwd ? { cwd: options.cwd } : {}),
    });
    const listen = (name: 'stdout' | 'stderr', keep: (text: string) => void) =>
      this.#child[name]?.setEncoding('utf8').on('data', (text: string) => {
        keep(text);
        for (const ask of this.#waiting) ask();
      });
    listen('stdout', (text) => {
      this.out += text;
    });
    listen('stderr', (text) => {
      this.err += text;
    });
    this.#child.stdin?.on('error', () => {}).write(options.input ?? '');
    if (!options.isInputOpen) this.#child.stdin?.end();
    this.#ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject).once('close', (code, signal) => {
        resolve({ code, signal, out: this.out, err: this.err });
      });
    });
    this.#ended.catch(() => {});
  }

  /** Waits until the output contains something. @throws Error with all output when the command ends without it */
  async waitForOutput(pattern: RegExp): Promise<RegExpMatchArray> {
    const look = () => this.out.match(pattern) ?? this.err.match(pattern);
    let wake = () => {};
    const found = new Promise<void>((resolve) => {
      wake = () => look() && resolve();
    });
    this.#waiting.add(wake);
    wake();
    await Promise.race([found, this.#ended]);
    this.#waiting.delete(wake);
    const match = look();
    if (!match) throw new Error(`akin ended without saying ${pattern}:\n${this.out}${this.err}`);
    return match;
  }

  /** Waits for its end. */
  ended(): Promise<ExitResult> {
    return this.#ended;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends a signal and waits for the end. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<ExitResult> {
    this.#child.kill(signal);
    return this.#ended;
  }
}

/** Runs a command to its end. */
export function runAkin(...args: ConstructorParameters<typeof RunningCommand>): Promise<ExitResult> {
  return new RunningCommand(...args).ended();
}

let inTurn: CommandsInTurn | undefined;
afterAll(async () => inTurn?.[Symbol.asyncDispose]());

/**
 * Runs a command to its end as {@link runAkin}, but in a process that all commands of a test file share: see
 * {@link CommandsInTurn}.
 */
export function runInTurn(args: readonly string[]): Promise<EndedCommand> {
  inTurn ??= new CommandsInTurn(IN_TURN, settings());
  return inTurn.run(args);
}

export interface ServingAkin {
  readonly command: RunningCommand;
  readonly url: string;
  readonly client: Client;
}

/**
 * Starts `akin serve` on a free port and waits until it prints its address. If `--data` (or
 * AKIN_DATA) has no embedded database yet, it gets a copy of one that akin made once in this run: making one takes
 * seconds.
 *
 * @param options.program another build of the command
 * @param options.first makes no copy: akin makes the database, as for a user who starts it for the first time
 */
export async function serveAkin(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  options: { readonly program?: string; readonly first?: boolean } = {},
): Promise<ServingAkin> {
  const { program = PROGRAM, first = false } = options;
  const data = args.includes('--data') ? args[args.indexOf('--data') + 1] : env.AKIN_DATA;
  const embedded = !args.includes('--database-url') && env.DATABASE_URL === undefined;
  if (embedded && data !== undefined && !first && !existsSync(path.join(data, 'database'))) {
    await copyTemplate('akin', data, async (made) => {
      const { command } = await serveAkin(['--no-demo', '--data', made], {}, { first: true });
      await command.stop();
    });
  }
  const command = new RunningCommand(['serve', '--port', '0', '--no-open', ...args], { env, program });
  const [, url = ''] = await command.waitForOutput(/akin answers at (http:\S+)\//);
  return { command, url, client: createClient({ baseUrl: url, retries: 0 }) };
}

/**
 * A PostgreSQL database with the store of an akin, a copy of one that akin made once in this run.
 *
 * @param demo it contains the demo
 */
export function akinDatabase(demo = false): Promise<TestDatabase> {
  const fill = async (url: string) => {
    const { folder, remove } = await temporaryFolder();
    const { command } = await serveAkin([...(demo ? [] : ['--no-demo']), '--data', folder, '--database-url', url]);
    if (demo) await command.waitForOutput(/Three requests/);
    await command.stop();
    await remove();
  };
  return testDatabase({ name: demo ? 'akin-demo' : 'akin', fill });
}

/** An akin with a database and a folder of its own. */
export interface OwnAkin extends ServingAkin {
  /** For files of the test; its data folder is `data` in it. */
  readonly folder: string;
  /** Stops it, and removes its database and its folder. */
  end(): Promise<void>;
}

/**
 * Starts `akin serve` on PostgreSQL. For what does not depend on the engine: the embedded database takes several times
 * the CPU.
 *
 * @param demo it serves the demo
 */
export async function serveOnPostgres(args: readonly string[] = [], { demo = false } = {}): Promise<OwnAkin> {
  const [{ folder, remove }, database] = await Promise.all([temporaryFolder(), akinDatabase(demo)]);
  const where = ['--data', path.join(folder, 'data'), '--database-url', database.url, ...(demo ? [] : ['--no-demo'])];
  const akin = await serveAkin([...args, ...where]);
  return {
    ...akin,
    folder,
    async end() {
      await akin.command.stop();
      await database.drop();
      await remove();
    },
  };
}

/** A new folder, and how to get rid of it. */
export async function temporaryFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'akin-e2e-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** All visible documents by their ids, of which none comes twice. */
export async function documentsOf(collection: Collection): Promise<Map<string, FoundDocument>> {
  const found = new Map<string, FoundDocument>();
  for await (const document of collection.all()) {
    expect(found.has(document.id)).toBe(false);
    found.set(document.id, document);
  }
  return found;
}

/** The status and the message with which akin refuses a request. */
export async function refusal(request: Promise<unknown>): Promise<[status: number, message: string]> {
  const error = await request.then(
    () => undefined,
    (reason) => reason as AkinRequestError,
  );
  expect(error).toBeInstanceOf(AkinRequestError);
  return [error?.status ?? 0, error?.message ?? ''];
}

/** Asks again until a condition is true. Nothing but the time limit of jest ends it. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const telling = setTimeout(() => console.warn(`Still waiting until ${what}`), 60_000);
  try {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
  } finally {
    clearTimeout(telling);
  }
}

/** The environment without settings of the person who runs the tests. */
function settings(): NodeJS.ProcessEnv {
  const isSetting = /^AKIN_|^OTEL_|^PORT$|^(SEARCH_)?DATABASE_URL$|^REDIS_URL$/;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !isSetting.test(name))),
    // Each thread that analyzes loads the models, which takes longer than the few pictures of a test.
    AKIN_THREADS: '1',
  };
}
