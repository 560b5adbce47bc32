import { AkinRequestError } from '@akin/client';

/** What akin says to programs, and what the page makes of it. The first pattern that fits counts. */
const PLAIN: readonly (readonly [RegExp, string])[] = [
  [/^Parameter rank\.by\.id: no document (".*") is visible.*$/s, 'The document $1 is not in the collection any more.'],
  [/^Parameter rank\.by\.id: .*$/s, 'This document has no picture to compare with others.'],
  [/^(Parameter )?rank\.by\.hex\b.*$/s, 'akin cannot search for this colour.'],
  [
    /^Parameter (rank\.by\.(data|outputs)|tagging\.\S+|input\.data)\b.*$/s,
    'akin cannot read your picture: choose it again.',
  ],
  [/^Parameter cursor\b.*$/s, 'The list has changed meanwhile: reload the page.'],
  [/^Parameters start and rows\b.*$/s, 'The page shows no more results: narrow the search to see others.'],
  [/^(There is no collection "[^"]*"\.).*$/s, '$1'],
  // What is wrong with a query is said in words of the query itself.
  [/^Parameter [\w.]+: /, ''],
];

/** What a person should read when akin refuses, or does not answer. */
export function messageOf(error: unknown): string {
  if (!(error instanceof AkinRequestError)) return 'Something went wrong on this page: reload it.';
  const { status, message, retryAfterSeconds } = error;
  if (status === 0) return 'akin does not answer. Is it still running?';
  if (status === 401) return 'akin asks for a key.';
  if (status === 403) return 'Your key does not allow this.';
  if (status === 429 || status === 503) {
    const seconds = retryAfterSeconds ?? 1;
    return `akin cannot do this just now. Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`;
  }
  if (status >= 500) return 'Something went wrong in akin. Its log says what.';
  const [pattern, words] = PLAIN.find(([one]) => one.test(message)) ?? [/^/, ''];
  return message.replace(pattern, words);
}
