import type { AkinError } from '@akin/domain';
import type { Params } from './params.ts';

/** Maximum number of characters of a fuzzy value: the number of patterns grows with its square. */
const MAX_CHARACTERS = 40;
/** This many patterns count as one more expensive clause. */
const PATTERNS_AT_ONCE = 500;

/**
 * SQL that is true for values within a number of edits: a character inserted, removed, replaced, or two neighbours
 * swapped. Each possible edit is one LIKE pattern with `_` at its position. Extensions that count edits are not always
 * installed, and count a swap as two.
 *
 * An edit touches at most two neighbouring pieces of the value, so of 2n + 1 pieces one is unchanged after n edits.
 * Values without any of the pieces are skipped before the many patterns (about 4 per character for one edit, 1,000 for
 * two edits of ten characters) are tried.
 */
export function fuzzyCondition(
  text: string,
  edits: 0 | 1 | 2,
  params: Params,
  fail: (problem: string) => AkinError,
): (value: string) => string {
  const characters = [...text];
  if (characters.length > MAX_CHARACTERS) {
    throw fail(`a fuzzy value has at most ${MAX_CHARACTERS} characters`);
  }
  const tried = fuzzyPatterns(characters, edits);
  params.countLoop(Math.floor(tried.length / PATTERNS_AT_ONCE));
  const patterns = params.add(tried, 'text[]');
  const min = params.add(Math.max(0, characters.length - edits), 'int');
  const max = params.add(characters.length + edits, 'int');
  const pieces = params.add(wholePieces(characters, 2 * edits + 1), 'text[]');
  return (value) =>
    `case when char_length(${value}) between ${min} and ${max} and ${value} like any(${pieces}) ` +
    `then ${value} like any(${patterns}) else false end`;
}

/** LIKE patterns that together match everything within a number of edits of the characters. */
export function fuzzyPatterns(characters: readonly string[], edits: number): string[] {
  let round = new Map([['', characters.map(escapeLike)]]);
  for (let edit = 0; edit < edits; edit++) {
    const next = new Map<string, string[]>();
    for (const pattern of round.values()) for (const one of editedOnce(pattern)) next.set(one.join(''), one);
    round = next;
  }
  return [...round.values()].map((pattern) => pattern.join(''));
}

function* editedOnce(pattern: readonly string[]): Generator<string[]> {
  for (let at = 0; at <= pattern.length; at++) {
    const [before, here, after] = [pattern.slice(0, at), pattern.slice(at, at + 1), pattern.slice(at + 1)];
    yield [...before, '_', ...here, ...after];
    if (here.length === 0) continue;
    yield [...before, '_', ...after];
    yield [...before, ...after];
    if (after.length > 0) yield [...before, ...after.slice(0, 1), ...here, ...after.slice(1)];
  }
}

/** Patterns of which every value within reach matches one. Only `%` if the value is too short to be divided. */
export function wholePieces(characters: readonly string[], count: number): string[] {
  if (characters.length < count) return ['%'];
  return Array.from({ length: count }, (_, i) => {
    const [from, to] = [i, i + 1].map((n) => Math.floor((n * characters.length) / count));
    return `%${characters.slice(from, to).map(escapeLike).join('')}%`;
  });
}

function escapeLike(character: string): string {
  return character.replace(/[\\%_]/, '\\$&');
}
