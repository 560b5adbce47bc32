/**
 * The closed list of what can go wrong. Every edge (HTTP, worker, database, command line) owns an exhaustive
 * `Record<ErrorCode, …>` that says what it makes of each; a missing row does not compile.
 */
export const ERROR_CODES = [
  /** The request is wrong: malformed JSON, a bad parameter, a query that does not parse, a value of the wrong type. */
  'bad-request',
  'unauthorized',
  'forbidden',
  /** No such collection, document or operation. */
  'not-found',
  'method-not-allowed',
  /** The body of the request took too long to come. */
  'request-timeout',
  /** The request contradicts what is stored. */
  'conflict',
  /** A body or an image has too many bytes. */
  'too-large',
  /** The content type of a body is not one that akin reads. */
  'unsupported-media-type',
  /** The bytes are not an image, or of a kind that is not read (SVG, PDF, HEIC, video, HTML). */
  'unsupported-image',
  /** The image could not be fetched: address refused, DNS, status, redirects, time. */
  'image-unreachable',
  /** The image could not be decoded, or is over the limits of pixels or frames. */
  'image-undecodable',
  'too-many-requests',
  /** A dependency is down or busy; the same request may succeed later. */
  'unavailable',
  /** Our own mistake. The message says nothing internal. */
  'internal',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** One of several things that are wrong in a request. `position` counts documents from 0. */
export interface ErrorDetail {
  readonly position?: number;
  readonly id?: string;
  readonly code: ErrorCode;
  readonly msg: string;
}

/** The one error class of akin. `message` is for the user: it says what to do next and holds nothing internal. */
export class AkinError extends Error {
  override readonly name = 'AkinError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: readonly ErrorDetail[]; cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Puts the name of a parameter in front of what is wrong with it. */
export function naming<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AkinError)) throw error;
    if (error.message.startsWith(`Parameter ${name}: `)) throw error;
    throw new AkinError(error.code, `Parameter ${name}: ${error.message}`, { details: error.details, cause: error });
  }
}
