/** The fields of a log line that give the cause. `code` is a SQLSTATE, or the name of a system error. */
export interface CauseFields {
  readonly code?: string;
  /** The message of what failed first, for example the database server. */
  readonly cause?: string;
}

/** Maximum depth of causes, because they may form a cycle. */
const MAX_DEPTH = 10;

/**
 * The root cause of an error, for logs: errors that users see do not say why a server cannot be reached. Each address
 * of a host name may have failed for another reason, and all of them are reported.
 */
export function causeFields(error: unknown): CauseFields {
  const bottom = errorProperties(error).cause === undefined ? [] : rootCauses(error);
  const cause = [...new Set(bottom.map(messageOf))].join('; ');
  const code = bottom.map((one) => errorProperties(one).code).find((one) => typeof one === 'string');
  return { ...(typeof code === 'string' ? { code } : {}), ...(cause && cause !== messageOf(error) ? { cause } : {}) };
}

function rootCauses(error: unknown, depth = 0): unknown[] {
  const { cause, errors } = errorProperties(error);
  if (depth < MAX_DEPTH && Array.isArray(errors)) return errors.flatMap((one) => rootCauses(one, depth + 1));
  if (depth < MAX_DEPTH && cause !== undefined) return rootCauses(cause, depth + 1);
  return [error];
}

/** Not by class: errors may come from another realm, as in tests. */
function errorProperties(error: unknown): { code?: unknown; message?: unknown; cause?: unknown; errors?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}

function messageOf(error: unknown): string {
  return String(errorProperties(error).message ?? error);
}
