import type { Field, Schema } from '@akin/domain';

/** What `fl` asks for. */
export interface FieldList {
  readonly score: boolean;
  /** Whether every field is wanted that comes without being named. */
  readonly all: boolean;
  /** Whether a stored field is to be returned. */
  includes(field: Field): boolean;
}

/** A name as it was written: characters behind a backslash stand for themselves. */
type Pattern = readonly (string | { readonly any: '*' | '?' })[];

/**
 * Reads `fl`: names by comma or blank, `*` in names, `score`; repeated parameters add up; a backslash takes the meaning
 * from the character behind it. Names that no document has are ignored. Fields such as descriptors come only when they
 * are named whole: no `*` brings them.
 *
 * @param ranked whether the search ranks by similarity: the score is wanted then by default
 */
export function readFieldList(values: readonly string[], ranked: boolean): FieldList {
  const patterns = values.flatMap((value) => value.match(/(?:\\.|[^\s,\\])+/gs) ?? []).map(readPattern);
  const exact = new Set(patterns.filter(isExact).map((pattern) => pattern.join('')));
  const globs = patterns.filter((pattern) => !isExact(pattern));
  // `fl=score` alone means all fields with the score, as in Solr.
  const all =
    globs.some((pattern) => pattern.every((part) => typeof part === 'object' && part.any === '*')) ||
    (globs.length === 0 && [...exact].every((name) => name === 'score'));
  return {
    all,
    score: exact.has('score') || (patterns.length === 0 && ranked),
    includes: (field) =>
      exact.has(field.name) ||
      (field.returnedByDefault && (all || globs.some((pattern) => matches(pattern, [...field.name])))),
  };
}

/** The fields of a schema that `fl` asks for, as names. */
export function wantedFields(list: FieldList, schema: Schema): string[] {
  return [...schema.values()].filter((field) => field.type !== 'text' && list.includes(field)).map(({ name }) => name);
}

function readPattern(text: string): Pattern {
  return [...text.matchAll(/\\(.)|(.)/gsu)].map(([, escaped, plain]) =>
    plain === '*' || plain === '?' ? { any: plain } : ((escaped ?? plain) as string),
  );
}

function isExact(pattern: Pattern): boolean {
  return pattern.every((part) => typeof part === 'string');
}

/** Goes back to the last `*` alone, so that no pattern takes more than its length times that of the name. */
function matches(pattern: Pattern, name: readonly string[]): boolean {
  let at = 0;
  let part = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    const wanted = pattern[part];
    if (typeof wanted === 'object' && wanted.any === '*') {
      star = part++;
      starAt = at;
    } else if (wanted !== undefined && (typeof wanted === 'object' || wanted === name[at])) {
      part++;
      at++;
    } else if (star >= 0) {
      part = star + 1;
      at = ++starAt;
    } else return false;
  }
  return pattern.slice(part).every((rest) => typeof rest === 'object' && rest.any === '*');
}
