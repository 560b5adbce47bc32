import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { SHORT_LIVED } from './short-lived.ts';

/** How a command ended, and all that it said. */
export interface EndedCommand {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * A process that runs commands one after the other. Each behaves as in a process of its own, and many take the time of
 * one. For commands that read no standard input and that nothing stops.
 *
 * @see apps/akin/test/in-turn.mjs
 */
export class CommandsInTurn implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncIterator<string>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(program: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn(process.execPath, [...SHORT_LIVED, program], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Runs one command to its end, after those before. @throws Error if the process ends before */
  run(args: readonly string[]): Promise<EndedCommand> {
    const ended = this.#last.then(async () => {
      this.#child.stdin.write(`${JSON.stringify(args)}\n`);
      const { value, done } = await this.#answers.next();
      if (done) throw new Error(`the process ended in the command ${args.join(' ')}`);
      return JSON.parse(value) as EndedCommand;
    });
    this.#last = ended.catch(() => {});
    return ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'close');
    this.#child.stdin.end();
    await ended;
  }
}
