import { AkinError, type ErrorCode } from '@akin/domain';

/**
 * What a SQLSTATE means to a user: the class (first two characters), or a whole code where it differs from its class.
 * All else is our own mistake.
 */
const CODES: Readonly<Record<string, ErrorCode>> = {
  // Connection lost, refused, or too many of them; shut down or starting; a statement over its time limit; a standby.
  '08': 'unavailable',
  '53': 'unavailable',
  '57': 'unavailable',
  '58': 'unavailable',
  '25006': 'unavailable',
  // Deadlocks, serialization, locks that were not to be had in time: the same may succeed next time.
  '40': 'unavailable',
  '55P03': 'unavailable',
  // Values that the engine cannot hold, and its limits.
  '22': 'bad-request',
  '54': 'bad-request',
  '23': 'conflict',
  // The schema or table of a collection is gone: it was dropped meanwhile.
  '3F000': 'not-found',
  '42P01': 'not-found',
  // Wrong password, no such role, database or right: the operator has to act, but the same request may work then.
  '28': 'unavailable',
  '3D': 'unavailable',
};

/** Errors of the socket below PostgreSQL. */
const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EACCES',
]);

/** pg itself has no codes for these. */
const LOST =
  /^(Connection terminated|timeout exceeded|Client has encountered|Client was closed|Cannot use a pool|The server does not support SSL)/i;

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  unavailable: 'The database cannot be reached or is busy. Try again shortly.',
  'bad-request': 'The database cannot hold a value of this request.',
  conflict: 'The request contradicts what is stored.',
  'not-found': 'The collection does not exist any more.',
};

const RETRY_AFTER_SECONDS = 2;

/** The SQLSTATE of an engine's error, also when it is the cause of an AkinError. */
export function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof AkinError) return sqlStateOf(error.cause);
  const { code } = partsOf(error);
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Whether somebody, or a limit of time, ended the statement. */
export function wasCancelled(error: unknown): boolean {
  return sqlStateOf(error) === '57014';
}

/** Not by class: errors of sockets and errors of pg have none in common, and may come from another realm. */
function partsOf(error: unknown): { code?: unknown; message?: unknown; errors?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}

/** Turns whatever an engine throws into an AkinError; the original stays as `cause` for the log. */
export function toAkinError(error: unknown): AkinError {
  if (error instanceof AkinError) return error;
  const code = errorCode(error);
  return new AkinError(code, MESSAGES[code] ?? 'The store failed. The log says more.', {
    cause: error,
    ...(code === 'unavailable' ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {}),
  });
}

function errorCode(error: unknown): ErrorCode {
  const state = sqlStateOf(error);
  if (state !== undefined) return CODES[state] ?? CODES[state.slice(0, 2)] ?? 'internal';
  const { code, message, errors } = partsOf(error);
  // Each address of a host name failed in its own way.
  if (Array.isArray(errors)) {
    return errors.some((one) => errorCode(one) === 'unavailable') ? 'unavailable' : 'internal';
  }
  return NETWORK.has(String(code)) || LOST.test(String(message)) ? 'unavailable' : 'internal';
}
