import type { Plain } from './json.ts';

/** An answer of akin that says that something is wrong. `status` is the HTTP status, 0 when no answer came. */
export class AkinRequestError extends Error {
  override readonly name = 'AkinRequestError';
  readonly status: number;
  /** What is wrong with which document, by `position` and `id`. */
  readonly details: readonly Plain[];
  /** Seconds after which the same request may succeed, from `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, message: string, details: readonly Plain[] = [], retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** No answer came: akin does not run there, or the network is away. */
export class NoAnswerError extends AkinRequestError {}
/** 400: the request is wrong; the message says what. */
export class BadRequestError extends AkinRequestError {}
/** 401: akin asks for a key. 403: the key may not do this. */
export class KeyError extends AkinRequestError {}
/** 404: there is no such collection or document. */
export class NotFoundError extends AkinRequestError {}
/** 409: something else changed it, or is at it. */
export class ConflictError extends AkinRequestError {}
/** 413, 415, 422: a picture is too large, is none, or could not be fetched or decoded. */
export class PictureError extends AkinRequestError {}
/** 429, 503: too much at once, or a dependency is down; the same request may succeed later. */
export class BusyError extends AkinRequestError {}

const CLASSES: Readonly<Record<number, typeof AkinRequestError>> = {
  0: NoAnswerError,
  400: BadRequestError,
  401: KeyError,
  403: KeyError,
  404: NotFoundError,
  409: ConflictError,
  413: PictureError,
  415: PictureError,
  422: PictureError,
  429: BusyError,
  503: BusyError,
};

/** The error of a status, of its class. */
export function errorOf(...[status, ...more]: ConstructorParameters<typeof AkinRequestError>): AkinRequestError {
  return new (CLASSES[status] ?? AkinRequestError)(status, ...more);
}
