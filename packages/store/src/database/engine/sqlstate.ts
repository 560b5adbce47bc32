import { AkinError, type ErrorCode } from '@akin/domain';

export const DISK_FULL = '53100';

/**
 * The cause of a database error. The `values` or the `statement`: it is deterministic, and the same fails again. The
 * `server`: it is temporary, or somebody must repair something, and then the same succeeds.
 */
export type Cause = 'values' | 'statement' | 'server';

/**
 * The meaning of a SQLSTATE: the class (first two characters), or a whole code if it differs from its class
 * (PostgreSQL's documentation, appendix A). Anything else is a defect of akin.
 */
const STATES: Readonly<Record<string, readonly [ErrorCode, Cause]>> = {
  // Connection lost, refused, or too many of them; no such user, password or database; shut down or starting; a
  // statement over its time limit; no memory or disk left; files that cannot be read.
  '08': ['unavailable', 'server'],
  '28': ['unavailable', 'server'],
  '3D': ['unavailable', 'server'],
  '53': ['unavailable', 'server'],
  '57': ['unavailable', 'server'],
  '58': ['unavailable', 'server'],
  F0: ['unavailable', 'server'],
  // A standby; a transaction that was idle, or open, for too long, for example because the server or this process was
  // stopped.
  '25006': ['unavailable', 'server'],
  '25P03': ['unavailable', 'server'],
  '25P04': ['unavailable', 'server'],
  // Deadlocks, serialization, lock timeouts, an object in use, a snapshot that is too old.
  '40': ['unavailable', 'server'],
  '55': ['unavailable', 'server'],
  '72': ['unavailable', 'server'],
  // Data or an index is damaged.
  XX001: ['internal', 'server'],
  XX002: ['internal', 'server'],
  // The schema or table of a collection is gone, because it was dropped. A permission is missing.
  '3F000': ['not-found', 'server'],
  '42P01': ['not-found', 'server'],
  '42501': ['unavailable', 'server'],
  // Values that the database cannot store, and its limits.
  '22': ['bad-request', 'values'],
  '54': ['bad-request', 'values'],
  '23': ['conflict', 'values'],
  '44': ['conflict', 'values'],
  // Limits without a separate code, such as the size of a single allocation; triggers that people added.
  P0: ['internal', 'values'],
  XX000: ['internal', 'values'],
  // Statements that cannot be run.
  '0A': ['internal', 'statement'],
  '21': ['internal', 'statement'],
  '42': ['internal', 'statement'],
};

/** Severities of errors that end the connection, or the whole server, whatever the SQLSTATE. */
const FATAL_SEVERITIES = new Set<unknown>(['PANIC', 'FATAL']);

const AKIN_ERROR = ['internal', 'server'] as const;

/**
 * Errors without a separate code (XX000) that a concurrent change of a table causes, such as the end of a collection.
 */
const CONCURRENT_CHANGE = /^(could not open relation with OID|cache lookup failed|tuple concurrently)/;

/**
 * Errors of the system, of sockets and of TLS below PostgreSQL: `ECONNRESET`, `EAI_AGAIN`, `ERR_SOCKET_CLOSED`,
 * `CERT_HAS_EXPIRED`.
 */
const NETWORK = /^(E[A-Z]+|EAI_[A-Z]+|ERR_(SOCKET|STREAM|TLS|SSL)_[A-Z_]+|[A-Z_]*(CERT|SIGNATURE)[A-Z_]*)$/;

/** pg itself has no codes for these. */
const LOST_CONNECTION =
  /^(Connection terminated|timeout expired|timeout exceeded|Query read timeout|Client has encountered|Client was closed|Cannot use a pool|The server does not support SSL|There was an error establishing an SSL|Received unexpected|received invalid response|SASL)/i;

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  unavailable: 'The database cannot be reached or is busy. Try again shortly.',
  'bad-request': 'The database cannot store a value of this request.',
  conflict: 'The request contradicts what is stored.',
  'not-found': 'The collection no longer exists.',
};

const MESSAGES_BY_STATE: Readonly<Record<string, string>> = {
  [DISK_FULL]: 'The disk of the database is full: free some space, or enlarge the disk. Then try again.',
};

const RETRY_AFTER_SECONDS = 2;

/** The SQLSTATE of a database error, also if it is the cause of an AkinError. */
export function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof AkinError) return sqlStateOf(error.cause);
  const { code } = partsOf(error);
  // No class begins with E, and system errors do: EPIPE also has five letters.
  return typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : undefined;
}

/**
 * The cause of a database error, or of the cause of an AkinError. An error that is not from SQL is due to the server.
 */
export function causeOf(error: unknown): Cause {
  return meaningOf(error instanceof AkinError ? error.cause : error)?.[1] ?? 'server';
}

export function reasonOf(error: unknown): string {
  const cause = error instanceof AkinError ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}

/** Whether the connection, or the whole server, ended with a database error. */
export function endsConnection(error: unknown): boolean {
  return FATAL_SEVERITIES.has(partsOf(error).severity);
}

/** Whether somebody, or a time limit, ended the statement. */
export function wasCancelled(error: unknown): boolean {
  return sqlStateOf(error) === '57014';
}

/** Whether the embedded database ended during a statement, which may be the reason. */
export function isCrash(error: unknown): boolean {
  const cause = error instanceof AkinError ? error.cause : error;
  const state = sqlStateOf(cause);
  if (state === undefined) return errorCode(cause) === 'unavailable';
  return state !== DISK_FULL && (endsConnection(cause) || wasCancelled(cause));
}

/** The fields that errors of sockets and of pg have. `instanceof` would not find them: they have no class in common. */
function partsOf(error: unknown): {
  code?: unknown;
  message?: unknown;
  errors?: unknown;
  severity?: unknown;
  where?: unknown;
} {
  return typeof error === 'object' && error !== null ? error : {};
}

/** Turns any database error into an AkinError. The original stays as `cause` for the log. */
export function toAkinError(error: unknown): AkinError {
  if (error instanceof AkinError) return error;
  const code = errorCode(error);
  const state = sqlStateOf(error) ?? '';
  const message = state === '42501' ? missingRight(partsOf(error).message) : MESSAGES_BY_STATE[state];
  return new AkinError(code, message ?? MESSAGES[code] ?? 'The store failed. The log contains the reason.', {
    cause: error,
    ...(code === 'unavailable' ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {}),
  });
}

/** PostgreSQL has one code for its files, which its system user may not use, and for what the role of akin may not use. */
function missingRight(message: unknown): string {
  return /^could not /.test(String(message))
    ? 'The database may not write its files. Its log says which. Try again when that is repaired.'
    : 'The role of akin in PostgreSQL may not use all tables of the database: they belong to another role, such as the superuser who restored a dump. Restore as the role of akin, or as a superuser give it each schema and table (alter … owner to …).';
}

/** Whether no collection can continue: the database is away. */
export function isOutage(error: unknown): boolean {
  return error instanceof AkinError && error.code === 'unavailable';
}

function errorCode(error: unknown): ErrorCode {
  const meaning = meaningOf(error);
  if (meaning !== undefined) return meaning[0];
  const { code, message, errors } = partsOf(error);
  // Each address of a host name may have failed for another reason.
  if (Array.isArray(errors)) {
    return errors.some((one) => errorCode(one) === 'unavailable') ? 'unavailable' : 'internal';
  }
  return NETWORK.test(String(code)) || LOST_CONNECTION.test(String(message)) ? 'unavailable' : 'internal';
}

/** Undefined for an error without a SQLSTATE. */
function meaningOf(error: unknown): readonly [ErrorCode, Cause] | undefined {
  const state = sqlStateOf(error);
  if (state === undefined) return undefined;
  if (endsConnection(error)) return ['unavailable', 'server'];
  if (state === 'XX000' && CONCURRENT_CHANGE.test(String(partsOf(error).message))) return ['unavailable', 'server'];
  return STATES[state] ?? STATES[state.slice(0, 2)] ?? AKIN_ERROR;
}
