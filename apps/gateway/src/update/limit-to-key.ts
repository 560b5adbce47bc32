import { AkinError, JsonObject, quote } from '@akin/domain';
import type { KeyFilter } from '@akin/store/search';
import type { Command } from './read-commands.ts';

/**
 * The commands of a key with a filter: documents get the fields that it sets and name no file. What it may change and
 * delete is checked when the commands are staged and accepted.
 *
 * @param keyFilter undefined: all commands stay as they are
 * @throws AkinError forbidden for a change by a key that sets no fields
 */
export function limitToKey(commands: AsyncIterable<Command>, keyFilter: KeyFilter | undefined): AsyncIterable<Command> {
  return keyFilter === undefined ? commands : limited(commands, keyFilter);
}

async function* limited(commands: AsyncIterable<Command>, keyFilter: KeyFilter): AsyncGenerator<Command> {
  for await (const command of commands) {
    if (command.kind === 'commit' || command.kind === 'warning') {
      yield command;
      continue;
    }
    const set = requireSetFields(keyFilter);
    yield command.kind === 'add' ? limitAdd(command, set) : command;
  }
}

/** The fields that each document of a key with a filter gets. @throws AkinError forbidden if it sets none */
export function requireSetFields({ set }: KeyFilter): ReadonlyMap<string, string> {
  if (set !== undefined) return set;
  throw new AkinError(
    'forbidden',
    'This key has a filter and sets no fields, so it may not change documents: use a key with set (akin keys create --filter … --set …).',
  );
}

/** The fields that name the file of a document. Who sets them could read any file of an indexed folder. */
const FILE_FIELDS: readonly string[] = ['source', 'path'];

function limitAdd(command: Extract<Command, { kind: 'add' }>, set: ReadonlyMap<string, string>): Command {
  const { position, json } = command;
  if (!(json instanceof JsonObject)) return command;
  const file = json.entries.find(([name]) => FILE_FIELDS.includes(name))?.[0];
  if (file === undefined) {
    return { ...command, json: new JsonObject([...json.entries.filter(([name]) => !set.has(name)), ...set]) };
  }
  const msg = `The document at position ${position} has the field ${quote(file)}, which names a file that this key may not see: use another name.`;
  return { kind: 'invalid', change: 'add', position, error: new AkinError('forbidden', msg) };
}
