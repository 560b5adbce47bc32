import { AkinError, type ErrorCode } from '@akin/domain';

/** There is no room on a disk of the database. */
export const DISK_FULL = '53100';

/**
 * What an error of the database is about. The `values` or the `statement`: it is deterministic, the same fails again.
 * The `server`: it is transient, or somebody has to mend something, and then the same succeeds.
 */
export type Blame = 'values' | 'statement' | 'server';

/**
 * What a SQLSTATE means: the class (first two characters), or a whole code where it differs from its class
 * (PostgreSQL's documentation, appendix A). Anything else is a bug of akin.
 */
const STATES: Readonly<Record<string, readonly [ErrorCode, Blame]>> = {
  // Connection lost, refused, or too many of them; no such user, password or database; shut down or starting; a
  // statement over its time limit; no memory or disk left; files that cannot be read.
  '08': ['unavailable', 'server'],
  '28': ['unavailable', 'server'],
  '3D': ['unavailable', 'server'],
  '53': ['unavailable', 'server'],
  '57': ['unavailable', 'server'],
  '58': ['unavailable', 'server'],
  F0: ['unavailable', 'server'],
  // A server of foreign tables.
  HV: ['unavailable', 'server'],
  // A standby; a transaction that was idle, or open, for too long, as when the server or this process was stopped.
  '25006': ['unavailable', 'server'],
  '25P03': ['unavailable', 'server'],
  '25P04': ['unavailable', 'server'],
  // Deadlocks, serialization, locks that were not to be had in time, an object in use, a snapshot that is too old.
  '40': ['unavailable', 'server'],
  '55': ['unavailable', 'server'],
  '72': ['unavailable', 'server'],
  // Data or an index is damaged.
  XX001: ['internal', 'server'],
  XX002: ['internal', 'server'],
  // The schema or table of a collection is gone: it was dropped meanwhile. A right is missing.
  '3F000': ['not-found', 'server'],
  '42P01': ['not-found', 'server'],
  '42501': ['unavailable', 'server'],
  // Values that the engine cannot hold, and its limits.
  '22': ['bad-request', 'values'],
  '54': ['bad-request', 'values'],
  '23': ['conflict', 'values'],
  '44': ['conflict', 'values'],
  // Limits that have no code of their own, such as the size of a single allocation; triggers that people made.
  P0: ['internal', 'values'],
  XX000: ['internal', 'values'],
  // Statements that cannot be run.
  '0A': ['internal', 'statement'],
  '21': ['internal', 'statement'],
  '42': ['internal', 'statement'],
};

/** How PostgreSQL calls an error that ends the connection, or the whole server, whatever its SQLSTATE. */
const DEADLY = new Set<unknown>(['PANIC', 'FATAL']);

const OURS = ['internal', 'server'] as const;

/** Errors without a code of their own (XX000) that a concurrent change of a table causes, such as the end of a collection. */
const RACE = /^(could not open relation with OID|cache lookup failed|tuple concurrently)/;

/** Errors of the system, of sockets and of TLS below PostgreSQL: `ECONNRESET`, `EAI_AGAIN`, `ERR_SOCKET_CLOSED`, `CERT_HAS_EXPIRED`. */
const NETWORK = /^(E[A-Z]+|EAI_[A-Z]+|ERR_(SOCKET|STREAM|TLS|SSL)_[A-Z_]+|[A-Z_]*(CERT|SIGNATURE)[A-Z_]*)$/;

/** pg itself has no codes for these. */
const LOST =
  /^(Connection terminated|timeout expired|timeout exceeded|Query read timeout|Client has encountered|Client was closed|Cannot use a pool|The server does not support SSL|There was an error establishing an SSL|Received unexpected|received invalid response|SASL)/i;

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  unavailable: 'The database cannot be reached or is busy. Try again shortly.',
  'bad-request': 'The database cannot hold a value of this request.',
  conflict: 'The request contradicts what is stored.',
  'not-found': 'The collection does not exist any more.',
};

/** Of these there is more to say than of their kind. */
const MESSAGES_BY_STATE: Readonly<Record<string, string>> = {
  [DISK_FULL]: 'The disk of the database is full: make room on it, or enlarge it. Try again then.',
  '42501': 'The database may not write its files or tables: its log says which. Try again when that is mended.',
};

const RETRY_AFTER_SECONDS = 2;

/** The SQLSTATE of an engine's error, also when it is the cause of an AkinError. */
export function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof AkinError) return sqlStateOf(error.cause);
  const { code } = partsOf(error);
  // No class begins with E, and errors of the system do: EPIPE has five letters too.
  return typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : undefined;
}

/** What an error is about, as the engine threw it or as the cause of an AkinError. What is no error of SQL is the server's. */
export function blameOf(error: unknown): Blame {
  return meaningOf(error instanceof AkinError ? error.cause : error)?.[1] ?? 'server';
}

/** What the engine says is wrong. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof AkinError ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}

/** Whether the connection, or the whole server, ended with an error of the engine. */
export function isDeadly(error: unknown): boolean {
  return DEADLY.has(partsOf(error).severity);
}

/** Whether somebody, or a limit of time, ended the statement. */
export function wasCancelled(error: unknown): boolean {
  return sqlStateOf(error) === '57014';
}

/** Whether the embedded database ended while it ran a statement, and the statement may be the reason. */
export function isCrash(error: unknown): boolean {
  const cause = error instanceof AkinError ? error.cause : error;
  const state = sqlStateOf(cause);
  if (state === undefined) return errorCode(cause) === 'unavailable';
  return state !== DISK_FULL && (isDeadly(cause) || wasCancelled(cause));
}

/** Not by class: errors of sockets and errors of pg have none in common, and may come from another realm. */
function partsOf(error: unknown): {
  code?: unknown;
  message?: unknown;
  errors?: unknown;
  severity?: unknown;
  where?: unknown;
} {
  return typeof error === 'object' && error !== null ? error : {};
}

/** Turns whatever an engine throws into an AkinError; the original stays as `cause` for the log. */
export function toAkinError(error: unknown): AkinError {
  if (error instanceof AkinError) return error;
  const code = errorCode(error);
  const server = code === 'unavailable' ? shardServerOf(error) : undefined;
  if (server !== undefined) return new ShardServerAway(server, error);
  const state = sqlStateOf(error) ?? '';
  return new AkinError(code, MESSAGES_BY_STATE[state] ?? MESSAGES[code] ?? 'The store failed. The log says more.', {
    cause: error,
    ...(code === 'unavailable' ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {}),
  });
}

/** A server of shards cannot be reached: the one that akin is connected to can, and what has no shards there goes on. */
export class ShardServerAway extends AkinError {
  /** @param which the server, in words */
  constructor(which: string, cause: unknown) {
    super('unavailable', `The ${which} cannot be reached or is busy. Try again shortly.`, {
      cause,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

/** Which server of shards an error comes from, as postgres_fdw tells it. */
function shardServerOf(error: unknown): string | undefined {
  const { message, where } = partsOf(error);
  const [, server] = /^could not connect to server "akin_(\w+)"/.exec(String(message)) ?? [];
  if (server !== undefined) return `shard server ${server}`;
  const [, shard] = /^remote SQL command: .*?_s(\d+)\b/s.exec(String(where)) ?? [];
  return shard && `server of shard ${shard}`;
}

function errorCode(error: unknown): ErrorCode {
  const meaning = meaningOf(error);
  if (meaning !== undefined) return meaning[0];
  const { code, message, errors } = partsOf(error);
  // Each address of a host name failed in its own way.
  if (Array.isArray(errors)) {
    return errors.some((one) => errorCode(one) === 'unavailable') ? 'unavailable' : 'internal';
  }
  return NETWORK.test(String(code)) || LOST.test(String(message)) ? 'unavailable' : 'internal';
}

/** Undefined for what has no SQLSTATE. */
function meaningOf(error: unknown): readonly [ErrorCode, Blame] | undefined {
  const state = sqlStateOf(error);
  if (state === undefined) return undefined;
  if (isDeadly(error)) return ['unavailable', 'server'];
  if (state === 'XX000' && RACE.test(String(partsOf(error).message))) return ['unavailable', 'server'];
  return STATES[state] ?? STATES[state.slice(0, 2)] ?? OURS;
}
