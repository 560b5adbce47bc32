import { describe, expect, it } from '@jest/globals';
import { fuzzyPatterns, wholePieces } from './fuzzy.ts';

/** `%` and `_` are characters as others are, unless a pattern means them. */
const ALPHABET = ['a', 'b', '_', '%'];

/** All texts up to a number of characters. */
function textsUpTo(length: number): string[] {
  if (length === 0) return [''];
  const shorter = textsUpTo(length - 1);
  const longest = shorter.filter((text) => text.length === length - 1);
  return [...shorter, ...longest.flatMap((text) => ALPHABET.map((character) => text + character))];
}

function editedOnce(text: string): string[] {
  const edited = [text];
  for (let at = 0; at <= text.length; at++) {
    const [before, after] = [text.slice(0, at), text.slice(at + 1)];
    for (const character of ALPHABET) edited.push(before + character + text.slice(at), before + character + after);
    edited.push(before + after, before + after.slice(0, 1) + text.slice(at, at + 1) + after.slice(1));
  }
  return edited;
}

function reachable(text: string, edits: number): Set<string> {
  let found = [text];
  for (let edit = 0; edit < edits; edit++) found = found.flatMap(editedOnce);
  return new Set(found);
}

/** SQL's LIKE. */
function isLike(text: string, pattern: string): boolean {
  const source = pattern.replace(/\\(.)|([%_])|([^\\%_])/gsu, (_, escaped, wildcard, plain) => {
    if (wildcard !== undefined) return wildcard === '%' ? '.*' : '.';
    return `\\u{${(escaped ?? plain).codePointAt(0).toString(16)}}`;
  });
  return new RegExp(`^${source}$`, 'su').test(text);
}

describe('fuzzy patterns', () => {
  const texts = textsUpTo(5);

  it.each([
    ['ab', 1],
    ['a', 2],
    ['ab_', 1],
    ['ab%', 2],
    ['aba', 0],
  ])('match just what is within reach of %s by %i edits', (text, edits) => {
    const patterns = fuzzyPatterns([...text], edits);
    const within = reachable(text, edits);
    const wrong = texts.filter((one) => patterns.some((pattern) => isLike(one, pattern)) !== within.has(one));
    expect(wrong).toEqual([]);
  });

  it.each([
    ['abab_', 1],
    ['abababab', 2],
    ['ab%ab_', 2],
  ])('have a piece of %s in everything within reach by %i edits', (text, edits) => {
    const pieces = wholePieces([...text], 2 * edits + 1);
    const lost = [...reachable(text, edits)].filter((one) => !pieces.some((piece) => isLike(one, piece)));
    expect(lost).toEqual([]);
  });
});
