/** The fields of a log line that give the cause. `code` is a SQLSTATE, or the name of a system error. */
export interface CauseFields {
  readonly code?: string;
  /** The message of what failed first, for example the database server. */
  readonly cause?: string;
}

/** Maximum depth of causes, because they may form a cycle. */
const DEEPEST = 10;

/**
 * The root cause of an error, for logs: errors that users see do not say why a server cannot be reached. Each address
 * of a host name may have failed for another reason, and all of them are reported.
 */
export function causeFields(error: unknown): CauseFields {
  const bottom = partsOf(error).cause === undefined ? [] : bottomOf(error);
  const cause = [...new Set(bottom.map(messageOf))].join('; ');
  const code = bottom.map((one) => partsOf(one).code).find((one) => typeof one === 'string');
  return { ...(typeof code === 'string' ? { code } : {}), ...(cause && cause !== messageOf(error) ? { cause } : {}) };
}

function bottomOf(error: unknown, depth = 0): unknown[] {
  const { cause, errors } = partsOf(error);
  if (depth < DEEPEST && Array.isArray(errors)) return errors.flatMap((one) => bottomOf(one, depth + 1));
  if (depth < DEEPEST && cause !== undefined) return bottomOf(cause, depth + 1);
  return [error];
}

/** Not by class: errors may come from another realm, as in tests. */
function partsOf(error: unknown): { code?: unknown; message?: unknown; cause?: unknown; errors?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}

function messageOf(error: unknown): string {
  return String(partsOf(error).message ?? error);
}
