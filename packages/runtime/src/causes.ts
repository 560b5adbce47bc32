/** The fields of a log line that say why: what `code` says is a SQLSTATE, or what the system calls the error. */
export interface CauseFields {
  readonly code?: string;
  /** In the words of what failed first, such as the database server. */
  readonly cause?: string;
}

/** How deep causes are followed, should they go round. */
const DEEPEST = 10;

/**
 * What lies at the bottom of an error, for logs: errors that users see do not tell why a server cannot be reached. Of a
 * host name with several addresses each failed in its own way, and all of them are reported.
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
