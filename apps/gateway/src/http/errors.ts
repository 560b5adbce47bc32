import { AkinError, type ErrorCode, type ErrorDetail } from '@akin/domain';
import { withoutPasswords } from './request-log.ts';

/** The HTTP status of each error. A code without a row does not compile. */
const HTTP_STATUS: Readonly<Record<ErrorCode, number>> = {
  'bad-request': 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'request-timeout': 408,
  conflict: 409,
  'too-large': 413,
  'unsupported-media-type': 415,
  'unsupported-image': 415,
  'image-unreachable': 422,
  'image-undecodable': 422,
  'too-many-requests': 429,
  // As WebDAV answers above a quota (RFC 4331).
  'quota-exceeded': 507,
  unavailable: 503,
  internal: 500,
};

/** Seconds after which a client may try again, if the error itself does not say. */
const RETRY_AFTER: Readonly<Partial<Record<ErrorCode, number>>> = { 'too-many-requests': 1, unavailable: 5 };

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: Readonly<Record<string, unknown>>;
}

/**
 * Any error as a client may see it. An error that is not an AkinError is a defect of akin, and its text is not
 * revealed.
 */
export function presentError(error: unknown, requestId: string, listedDetails: number): ErrorResponse {
  const known = asAkinError(error, requestId);
  const status = HTTP_STATUS[known.code];
  const retryAfter = known.retryAfterSeconds ?? RETRY_AFTER[known.code];
  return {
    status,
    headers: retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) },
    error: errorMember(status, known.code, known.message, known.details, listedDetails),
  };
}

/** Lists only the first of many details, and its message says how many there are. */
export function errorMember(
  status: number,
  code: ErrorCode,
  message: string,
  details: readonly ErrorDetail[],
  listedDetails: number,
): Record<string, unknown> {
  const cut = details.length > listedDetails;
  const shown = withoutPasswords(message);
  return {
    metadata: ['error-class', code],
    msg: cut ? `${shown} (${details.length} in all, the first ${listedDetails} in details)` : shown,
    code: status,
    ...(details.length > 0
      ? { details: details.slice(0, listedDetails).map((one) => ({ ...one, msg: withoutPasswords(one.msg) })) }
      : {}),
  };
}

function asAkinError(error: unknown, requestId: string): AkinError {
  if (error instanceof AkinError) return error;
  return new AkinError('internal', `akin failed to handle this request. See its log for request ${requestId}.`);
}
