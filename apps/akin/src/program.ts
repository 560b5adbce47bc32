import type { Command, Parsed } from './options.ts';

/** A command and its action. `run` returns the exit code. */
export interface Program {
  readonly command: Command;
  run(options: Parsed, signal: AbortSignal): Promise<number>;
}
