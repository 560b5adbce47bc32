import type { Plain } from './json.ts';

/** An error response of akin. `status` is the HTTP status, or 0 if there was no response. */
export class AkinRequestError extends Error {
  override readonly name: string = 'AkinRequestError';
  readonly status: number;
  /** One entry for each error, with `position` and `id` of the document. */
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

/** No response: akin is not running at this URL, or the network is down. */
export class NoResponseError extends AkinRequestError {
  override readonly name = 'NoResponseError';
}
/** 400: the request is wrong; the message says what. */
export class BadRequestError extends AkinRequestError {
  override readonly name = 'BadRequestError';
}
/** 401: akin requires a key. 403: the key does not allow this request. */
export class KeyError extends AkinRequestError {
  override readonly name = 'KeyError';
}
/** 404: the collection or document does not exist. */
export class NotFoundError extends AkinRequestError {
  override readonly name = 'NotFoundError';
}
/** 409: another request changed it, or is changing it now. */
export class ConflictError extends AkinRequestError {
  override readonly name = 'ConflictError';
}
/** 413, 415, 422: a picture is too large, has no supported format, or could not be downloaded or decoded. */
export class PictureError extends AkinRequestError {
  override readonly name = 'PictureError';
}
/** 429, 503: too many requests, or a dependency is down; the same request may succeed later. */
export class BusyError extends AkinRequestError {
  override readonly name = 'BusyError';
}
/** 507: the collection would exceed its quota of documents or bytes. Deletes are still possible. */
export class QuotaError extends AkinRequestError {
  override readonly name = 'QuotaError';
}

const CLASSES: Readonly<Record<number, typeof AkinRequestError>> = {
  0: NoResponseError,
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
  507: QuotaError,
};

/** Creates the error of the class for a status. */
export function createRequestError(
  ...[status, ...more]: ConstructorParameters<typeof AkinRequestError>
): AkinRequestError {
  return new (CLASSES[status] ?? AkinRequestError)(status, ...more);
}
