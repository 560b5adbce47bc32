import { untilSignal } from '@akin/runtime';
import { analyzeCommand } from './commands/analyze.ts';
import { backupCommand, restoreCommand } from './commands/backup.ts';
import { indexCommand } from './commands/index-command.ts';
import { serveCommand } from './commands/serve-command.ts';
import { type Command, helpText, type Parsed, parseOptions, UsageError } from './options.ts';

/** A command and what it does. `run` gives the exit code. */
export interface Program {
  readonly command: Command;
  run(options: Parsed, signal: AbortSignal): Promise<number>;
}

const PROGRAMS: readonly Program[] = [serveCommand, indexCommand, analyzeCommand, backupCommand, restoreCommand];

const [name = 'serve', ...rest] = process.argv.slice(2);
process.exitCode = await main(name, rest);

async function main(name: string, args: readonly string[]): Promise<number> {
  const program = PROGRAMS.find(({ command }) => command.name === name);
  if (!program) {
    const asked = ['help', '--help', '-h'].includes(name);
    (asked ? process.stdout : process.stderr).write(`${asked ? '' : `akin has no command ${name}.\n\n`}${overview()}`);
    return asked ? 0 : 1;
  }
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(helpText(program.command));
    return 0;
  }
  const stop = new AbortController();
  void untilSignal().then(() => stop.abort());
  try {
    return await program.run(parseOptions(program.command, args, process.env), stop.signal);
  } catch (error) {
    if (stop.signal.aborted) return 130;
    const expected = error instanceof UsageError || ['AkinError', 'AkinRequestError'].includes((error as Error).name);
    process.stderr.write(`${expected ? (error as Error).message : ((error as Error).stack ?? String(error))}\n`);
    return 1;
  }
}

function overview(): string {
  const lines = PROGRAMS.map(
    ({ command }) => `  ${command.usage.padEnd(34)} ${command.about.split('. ')[0]?.replace(/\.$/, '')}`,
  );
  return `Usage: akin <command>\n\n${lines.join('\n')}\n\nakin <command> --help tells the options of one.\n`;
}
