import { setMaxListeners } from 'node:events';
import { causeFields, StoppedError, waitForSignal } from '@akin/runtime';
import { helpText, parseOptions, UsageError } from './options.ts';
import type { CommandModule } from './program.ts';
import { akinVersion } from './version.ts';

type LoadCommand = () => Promise<CommandModule>;

/**
 * Commands of everyday use, by name. Only the command that runs is loaded: a script that analyzes needs no database.
 */
const COMMON_COMMANDS: Readonly<Record<string, LoadCommand>> = {
  serve: async () => (await import('./commands/serve-command.ts')).serveCommand,
  index: async () => (await import('./commands/index-command.ts')).indexCommand,
  status: async () => (await import('./commands/status-command.ts')).statusCommand,
  analyze: async () => (await import('./commands/analyze.ts')).analyzeCommand,
  import: async () => (await import('./commands/import-command.ts')).importCommand,
  export: async () => (await import('./commands/export-command.ts')).exportCommand,
  reindex: async () => (await import('./commands/reindex-command.ts')).reindexCommand,
  models: async () => (await import('./commands/models-command.ts')).modelsCommand,
  train: async () => (await import('./commands/train-command.ts')).trainCommand,
  keys: async () => (await import('./commands/keys-command.ts')).keysCommand,
  mcp: async () => (await import('./commands/mcp-command.ts')).mcpCommand,
  report: async () => (await import('./commands/report-command.ts')).reportCommand,
  backup: async () => (await import('./commands/backup.ts')).backupCommand,
  restore: async () => (await import('./commands/backup.ts')).restoreCommand,
};

const FLEET_COMMANDS: Readonly<Record<string, LoadCommand>> = {
  gateway: async () => (await import('./commands/fleet-commands.ts')).gatewayCommand,
  indexer: async () => (await import('./commands/fleet-commands.ts')).indexerCommand,
  analyzer: async () => (await import('./commands/fleet-commands.ts')).analyzerCommand,
  'analyze-node': async () => (await import('./commands/fleet-commands.ts')).analyzeNodeCommand,
};

const COMMANDS = { ...COMMON_COMMANDS, ...FLEET_COMMANDS };

// Continue if the reader of this output has closed it.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const [name = 'serve', ...rest] = process.argv.slice(2);
const stop = new AbortController();
process.exitCode = await main(name, rest);
// Everything is closed. What may still keep the process alive, such as a DNS query, has no use.
if (stop.signal.aborted) process.exit();

async function main(name: string, args: readonly string[]): Promise<number> {
  if (['--version', '-v', 'version'].includes(name)) {
    process.stdout.write(`${akinVersion()}\n`);
    return 0;
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!load) {
    const asked = ['help', '--help', '-h'].includes(name);
    if (asked) process.stdout.write(await overview());
    else process.stderr.write(`akin has no command ${name}.\n\n${await overview()}`);
    return asked ? 0 : 1;
  }
  const program = await load();
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(helpText(program.command));
    return 0;
  }
  // Every picture in progress listens for it.
  setMaxListeners(0, stop.signal);
  void waitForSignal().then((signal) => stop.abort(new StoppedError(signal)));
  try {
    return await program.run(parseOptions(program.command, args, process.env), stop.signal);
  } catch (error) {
    if (stop.signal.aborted) return 130;
    const { AkinRequestError } = await import('@akin/client');
    const isRefused = error instanceof AkinRequestError || (error as Error).name === 'AkinError';
    const expected = isRefused || error instanceof UsageError;
    process.stderr.write(`${expected ? messageOf(error as Error) : ((error as Error).stack ?? String(error))}\n`);
    return 1;
  }
}

/** With its cause, for example a refused connection, unless the message contains it. */
function messageOf(error: Error): string {
  const { cause } = causeFields(error);
  return cause !== undefined && !error.message.includes(cause) ? `${error.message} (${cause})` : error.message;
}

async function overview(): Promise<string> {
  const everyDay = await linesOf(COMMON_COMMANDS);
  const fleet = await linesOf(FLEET_COMMANDS);
  return `Usage: akin <command>\n\nEvery day:\n${everyDay}\nProcesses of a fleet, where one process is not enough:\n${fleet}\nakin <command> --help lists the options of a command.\n`;
}

async function linesOf(programs: Readonly<Record<string, LoadCommand>>): Promise<string> {
  const loaded = await Promise.all(Object.values(programs).map((load) => load()));
  return loaded
    .map(({ command }) => `  ${command.usage.padEnd(34)} ${command.description.split('. ')[0]?.replace(/\.$/, '')}\n`)
    .join('');
}
