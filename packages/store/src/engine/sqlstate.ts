import { AkinError, type ErrorCode } from '@akin/domain';

/**
 * What a SQLSTATE means to a user: the class (first two characters), or a whole code where it differs from its class.
 * All else is our own mistake.
 */
const CODES: Readonly<Record<string, ErrorCode>> = {
  // Connection lost, refused, or too many of them; shut down, starting, read-only after a failover.
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
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined;
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
  if (state !== undefined) {
    // A cancelled statement ran into its own time limit.
    return CODES[state] ?? CODES[state.slice(0, 2)] ?? 'internal';
  }
  if (error instanceof AggregateError)
    return error.errors.some((one) => errorCode(one) === 'unavailable') ? 'unavailable' : 'internal';
  if (error instanceof Error && 'code' in error && NETWORK.has(String(error.code))) return 'unavailable';
  // pg itself has no codes for these.
  if (
    error instanceof Error &&
    /^(Connection terminated|timeout exceeded|Client has encountered|Client was closed|Client network socket|Cannot use a pool|The server does not support SSL)/i.test(
      error.message,
    )
  ) {
    return 'unavailable';
  }
  return 'internal';
}
