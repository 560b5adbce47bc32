import { AkinRequestError } from '@akin/client';
import { TEXTS } from './texts.ts';

const T = TEXTS.messages;

/**
 * Messages of akin that are meant for programs, and the texts that the page shows instead. The first matching pattern
 * is used.
 */
const PLAIN: readonly (readonly [RegExp, string])[] = [
  [/^Parameter rank\.by\.id: no document (".*") is visible.*$/s, T.gone],
  [/^Parameter rank\.by\.id: .*$/s, T.noPicture],
  [/^(Parameter )?rank\.by\.hex\b.*$/s, T.badColor],
  [/^Parameter (rank\.by\.(data|outputs)|tagging\.\S+|input\.data)\b.*$/s, T.badPicture],
  [/^Parameter cursor\b.*$/s, T.listChanged],
  [/^Parameters start and rows\b.*$/s, TEXTS.results.noMore],
  [/^(There is no collection "[^"]*"\.).*$/s, '$1'],
  // Errors in a query: the parameter name is removed.
  [/^Parameter [\w.]+: /, ''],
];

/** Whether akin, or what stands before it, does not answer at all. */
export function isNoResponse(error: unknown): boolean {
  if (error instanceof DOMException) return error.name === 'TimeoutError';
  return error instanceof AkinRequestError && [0, 502, 504].includes(error.status);
}

export function messageOf(error: unknown): string {
  // A file that was removed or changed since it was chosen, or that the user may not read.
  if (error instanceof DOMException && /^Not(Readable|Found)Error$/.test(error.name)) return T.unreadable;
  if (!(error instanceof AkinRequestError)) return T.page;
  const { status, message, retryAfterSeconds } = error;
  if (status === 0) return T.noResponse;
  if (status === 401) return T.key;
  if (status === 403) return T.scope;
  if (status === 429 || status === 503) {
    return T.busy(retryAfterSeconds ?? 1);
  }
  if (status === 507) return message;
  if (status >= 500) return T.internal;
  const [pattern, words] = PLAIN.find(([one]) => one.test(message)) ?? [/^/, ''];
  return message.replace(pattern, words);
}
