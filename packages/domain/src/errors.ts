/**
 * The closed list of error codes. Every interface (HTTP, worker, database, command line) has an exhaustive
 * `Record<ErrorCode, …>` that maps each code; the code does not compile if one is missing.
 */
export const ERROR_CODES = [
  /** The request is wrong: malformed JSON, a bad parameter, a query that does not parse, a value of the wrong type. */
  'bad-request',
  'unauthorized',
  'forbidden',
  /** No such collection, document or operation. */
  'not-found',
  'method-not-allowed',
  /** The body of the request arrived too slowly. */
  'request-timeout',
  /** The request contradicts what is stored. */
  'conflict',
  /** A body or an image is too large in bytes. */
  'too-large',
  /** akin does not read the content type of the body. */
  'unsupported-media-type',
  /** The bytes are not an image, or their format is not supported (SVG, PDF, HEIC, video, HTML). */
  'unsupported-image',
  /** The image could not be downloaded: forbidden address, DNS, status, redirects, time limit. */
  'image-unreachable',
  /** The image could not be decoded, or exceeds the limits of pixels or frames. */
  'image-undecodable',
  'too-many-requests',
  /** The collection has reached its quota: delete documents, or raise the quota. */
  'quota-exceeded',
  /** A dependency is down or busy; the same request may succeed later. */
  'unavailable',
  /** A bug in akin. The message contains no internals. */
  'internal',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** One of several errors in a request. `position` counts documents from 0. */
export interface ErrorDetail {
  readonly position?: number;
  readonly id?: string;
  readonly code: ErrorCode;
  readonly msg: string;
}

export interface AkinErrorOptions {
  readonly details?: readonly ErrorDetail[];
  readonly cause?: unknown;
  readonly retryAfterSeconds?: number;
}

/** The only error class of akin. `message` is for the user: it says what to do next and contains no internals. */
export class AkinError extends Error {
  override readonly name = 'AkinError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: AkinErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** The request is wrong. `message` says what is, and what to send instead. */
export function badRequest(message: string, options?: AkinErrorOptions): AkinError {
  return new AkinError('bad-request', message, options);
}

/** Calls `read` and prefixes the message of an error with the name of a parameter. */
export function withErrorContext<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AkinError)) throw error;
    if (error.message.startsWith(`Parameter ${name}: `)) throw error;
    throw new AkinError(error.code, `Parameter ${name}: ${error.message}`, { details: error.details, cause: error });
  }
}
