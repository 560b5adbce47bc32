import type { Command, ParsedOptions } from './options.ts';

export interface CommandModule {
  readonly command: Command;
  run(options: ParsedOptions, signal: AbortSignal): Promise<number>;
}
