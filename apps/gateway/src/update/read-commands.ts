import {
  type AkinError,
  badRequest,
  isJsonArray,
  type JsonItem,
  JsonNumber,
  JsonObject,
  type JsonValue,
  readJsonLines,
  readJsonStream,
  VERSION_FIELD,
} from '@akin/domain';
import { parseFlag } from '../parameters/parse-flag.ts';

/** One command of the body of an update. `position` counts documents and deletes from 0; `line`, for NDJSON, from 1. */
export type Command =
  | { readonly kind: 'add'; readonly position: number; readonly json: JsonValue; readonly line?: number }
  | { readonly kind: 'delete'; readonly position: number; readonly id: string; readonly version?: JsonValue }
  | { readonly kind: 'delete-by-query'; readonly position: number; readonly query: string }
  | CommitCommand
  | InvalidCommand
  | WarningCommand;

/** A document or delete that cannot be read, in a body whose others can. */
export interface InvalidCommand {
  readonly kind: 'invalid';
  readonly change: 'add' | 'delete' | 'delete-by-query';
  /** Of the document, if it can be read; or the query of the delete. */
  readonly id?: string;
  readonly position: number;
  readonly error: AkinError;
}

/** A harmless part of the body that is ignored. */
export interface WarningCommand {
  readonly kind: 'warning';
  readonly msg: string;
}

/** Commits come after all changes of their request, wherever they are in it. */
export interface CommitCommand {
  readonly kind: 'commit';
  readonly openSearcher?: boolean | undefined;
  readonly waitSearcher?: boolean | undefined;
  /** Milliseconds by which the commit may be delayed. Undefined: not at all. */
  readonly within?: number;
}

/**
 * The commands of a JSON body as its bytes arrive, in bounded memory.
 *
 * `documents` (below `/api/cores`): one document, an array of documents, or a single `delete`. `commands` (below the
 * legacy segment): Solr's command map, whose keys may repeat, or an array of documents.
 *
 * @throws AkinError bad-request, too-large
 */
export async function* readCommands(
  chunks: AsyncIterable<Uint8Array>,
  form: 'documents' | 'commands',
  options: {
    /** Whether `{}` is ignored. Otherwise it is a document without an id. */ readonly ignoresEmptyObject: boolean;
  },
): AsyncGenerator<Command> {
  const counter = { position: 0 };
  const items = readJsonStream(chunks, { objects: form === 'documents' ? 'whole' : 'members' });
  for await (const item of items) {
    if (options.ignoresEmptyObject && item.kind === 'object' && item.value.entries.length === 0) continue;
    yield* commandsOf(item, counter);
  }
}

/** The documents of an NDJSON body as its bytes arrive: one per line. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Command> {
  let position = 0;
  for await (const one of readJsonLines(chunks)) {
    if ('error' in one) yield { kind: 'invalid', change: 'add', position: position++, error: one.error };
    else yield { kind: 'add', position: position++, json: one.value, line: one.line };
  }
}

/** Solr's keys of an add and of a delete. */
const ADD_KEYS = ['doc', 'overwrite', 'commitWithin', 'boost'];
const DELETE_KEYS = ['id', 'query', 'commitWithin', VERSION_FIELD, '_route_'];

function* commandsOf(item: JsonItem, counter: { position: number }): Generator<Command> {
  switch (item.kind) {
    case 'element':
      yield { kind: 'add', position: counter.position++, json: item.value };
      return;
    case 'oversized':
      yield { kind: 'invalid', change: 'add', position: counter.position++, error: item.error };
      return;
    case 'object':
      yield* ofObject(item.value, counter);
      return;
    case 'member':
      yield* ofCommand(item.key, item.value, counter);
  }
}

/** A document, unless it contains only deletes. */
function* ofObject(object: JsonObject, counter: { position: number }): Generator<Command> {
  if (object.entries.length > 0 && object.entries.every(([key]) => key === 'delete')) {
    for (const [, value] of object.entries) yield* ofDelete(value, counter);
    return;
  }
  if (isCommandMap(object)) {
    throw badRequest(
      `${object.entries.map(([key]) => shown(key)).join(', ')}: send commands to /solr/{collection}/update. Here send documents or a single delete, and commit with parameters such as commit=true.`,
    );
  }
  yield { kind: 'add', position: counter.position++, json: object };
}

/** Without an id it is not a document, whatever its other names mean. */
function isCommandMap({ entries }: JsonObject): boolean {
  const commands = ['add', 'delete', 'commit', 'optimize', 'rollback'];
  return entries.length > 0 && entries.length < 100 && entries.every(([key]) => commands.includes(key));
}

function* ofCommand(key: string, value: JsonValue, counter: { position: number }): Generator<Command> {
  switch (key) {
    case 'add':
      yield* ofAdd(value, counter);
      return;
    case 'delete':
      yield* ofDelete(value, counter);
      return;
    case 'commit':
    case 'optimize':
      yield ofCommit(key, value);
      return;
    case 'rollback':
      throw rollbackError();
    default:
      throw badRequest(
        `${shown(key)} is not a command: use add, delete, commit or optimize. Send a single document in an array, or below /api/cores.`,
      );
  }
}

/** `{"doc": …, "commitWithin": …}`, or an array of documents. */
function* ofAdd(value: JsonValue, counter: { position: number }): Generator<Command> {
  if (isJsonArray(value)) {
    for (const json of value) yield { kind: 'add', position: counter.position++, json };
    return;
  }
  const position = counter.position++;
  const json = value instanceof JsonObject ? value.get('doc') : undefined;
  if (!(value instanceof JsonObject) || json === undefined) {
    const msg = `The add at position ${position} needs a document: {"add": {"doc": {…}}}.`;
    yield { kind: 'invalid', change: 'add', position, error: badRequest(msg) };
    return;
  }
  const error = unknownKeyError(value, 'add', position, ADD_KEYS);
  if (flagOf(value, 'overwrite') === false) throw overwriteError();
  yield error === undefined ? { kind: 'add', position, json } : { kind: 'invalid', change: 'add', position, error };
  yield* commitWithin(value);
}

/** An id, an array of ids, or an object with `id` or `query`. */
function* ofDelete(value: JsonValue, counter: { position: number }): Generator<Command> {
  for (const one of isJsonArray(value) ? value : [value]) {
    if (!(one instanceof JsonObject)) {
      yield deleteById(one, counter.position++);
      continue;
    }
    const ids = one.getAll('id').flatMap((id) => (isJsonArray(id) ? [...id] : [id]));
    const queries = one.getAll('query');
    const error = unknownKeyError(one, 'delete', counter.position, DELETE_KEYS);
    if (error !== undefined || ids.length + queries.length === 0) {
      yield invalidDelete('delete', counter.position++, error);
      continue;
    }
    const version = one.get(VERSION_FIELD) ?? undefined;
    for (const id of ids) yield deleteById(id, counter.position++, version);
    for (const query of queries) {
      const position = counter.position++;
      if (typeof query === 'string' && query.trim() !== '') yield { kind: 'delete-by-query', position, query };
      else yield invalidDelete('delete-by-query', position);
    }
    yield* commitWithin(one);
  }
}

function deleteById(value: JsonValue, position: number, version?: JsonValue): Command {
  const id = value instanceof JsonNumber ? value.text : value;
  if (typeof id !== 'string' || id === '') return invalidDelete('delete', position);
  return { kind: 'delete', position, id, ...(version === undefined ? {} : { version }) };
}

function invalidDelete(
  change: InvalidCommand['change'],
  position: number,
  error = badRequest(
    `The delete at position ${position} needs ids or a query: {"delete": ["id", …]} or {"delete": {"query": "field:value"}}.`,
  ),
): InvalidCommand {
  return { kind: 'invalid', change, position, error };
}

/**
 * An unknown key may be a condition, for example a misspelt `_version_`. Ignoring it could change documents that must
 * not change.
 */
function unknownKeyError(
  { entries }: JsonObject,
  command: string,
  position: number,
  known: readonly string[],
): AkinError | undefined {
  const unknown = entries.find(([key]) => !known.includes(key));
  if (unknown === undefined) return undefined;
  return badRequest(
    `The ${command} at position ${position} has the key ${shown(unknown[0])}, which is not understood: use ${known.join(', ')}.`,
  );
}

export function overwriteError(): AkinError {
  return badRequest('overwrite=false is not possible: a document replaces the earlier one with its id.');
}

export function rollbackError(): AkinError {
  return badRequest(
    'rollback is not possible: accepted changes are durable at once. Delete the documents, or send their earlier versions.',
  );
}

function ofCommit(key: string, value: JsonValue): CommitCommand {
  if (value !== null && value !== true && !(value instanceof JsonObject)) {
    throw badRequest(`${key} must be an object: {"${key}": {}}.`);
  }
  const option = (name: string) => (value instanceof JsonObject ? flagOf(value, name) : undefined);
  return {
    kind: 'commit',
    openSearcher: option('openSearcher'),
    waitSearcher: option('waitSearcher'),
  };
}

/** A boolean of a command. Undefined if it is missing or null. @throws AkinError bad-request for anything else */
function flagOf(command: JsonObject, name: string): boolean | undefined {
  const value = command.get(name);
  if (value === undefined || value === null) return undefined;
  const flag = parseFlag(value);
  if (flag === undefined) throw badRequest(`${name} must be true or false.`);
  return flag;
}

function* commitWithin(options: JsonObject): Generator<CommitCommand> {
  const value = options.get('commitWithin');
  if (value === undefined || value === null) return;
  const milliseconds = value instanceof JsonNumber ? Number(value.text) : Number.NaN;
  if (!Number.isInteger(milliseconds)) {
    throw badRequest('commitWithin must be a whole number of milliseconds.');
  }
  // Solr's clients send -1 for "not requested".
  if (milliseconds >= 0) yield { kind: 'commit', within: milliseconds };
}

function shown(key: string): string {
  return JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}…` : key);
}
