import type { Command, ParsedOptions } from './options.ts';

/** A command and its action. `run` returns the exit code. */
export interface CommandModule {
  readonly command: Command;
  run(options: ParsedOptions, signal: AbortSignal): Promise<number>;
}
