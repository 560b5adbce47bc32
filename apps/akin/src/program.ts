import type { Command, Parsed } from './options.ts';

/** A command and what it does. `run` gives the exit code. */
export interface Program {
  readonly command: Command;
  run(options: Parsed, signal: AbortSignal): Promise<number>;
}
