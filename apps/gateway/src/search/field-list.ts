import {
  badRequest,
  type Distance,
  type Field,
  type ParameterLookup,
  parseGeodist,
  quote,
  type Schema,
  unescapeBackslashes,
  withErrorContext,
} from '@akin/domain';

export interface FieldList {
  readonly score: boolean;
  /** Whether all fields are returned that need not be named, and the outputs of the analysis with them. */
  readonly all: boolean;
  /** Whether a stored field is returned under its own name. */
  includes(field: Field): boolean;
  /** What else is returned: fields and the score under other names, and distances. */
  readonly computed: readonly ComputedField[];
}

/** A member of a document that is not a stored field, or a stored field under another name. */
type ComputedField = { readonly alias: string } & (
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'score' }
  | { readonly kind: 'distance'; readonly distance: Distance }
);

/** In `fl`: without the outputs of the analysis, except those that are named completely. */
const WITHOUT_OUTPUTS = '-outputs';

/** The literal name: characters after a backslash represent themselves. */
type Pattern = readonly (string | { readonly any: '*' | '?' })[];

/** Maximum number of renamed fields and functions. Each adds a value to every document of the response. */
const MAX_COMPUTED = 100;
/** Far below the length at which a pattern could overflow the stack. */
const MAX_LENGTH = 1_000_000;

/**
 * Parses `fl`: names separated by comma or blank, `*` in names, `score`, `other name:name`, `geodist()`. Repeated
 * parameters add up. A backslash escapes the next character. Names that no document has are ignored. Fields such as
 * descriptors are returned only if they are named completely: no `*` matches them. With `-outputs`, neither are any
 * other outputs of the analysis.
 *
 * @param ranked whether the search ranks by similarity: then the score is returned by default
 * @param parameter gives `pt` and `sfield` for `geodist()`
 * @throws AkinError bad-request that names an unknown function; also for too many renamed fields and functions
 */
export function readFieldList(values: readonly string[], ranked: boolean, parameter: ParameterLookup): FieldList {
  if (values.some((value) => value.length > MAX_LENGTH)) {
    throw badRequest(`Parameter fl: it has more than ${MAX_LENGTH} characters.`);
  }
  const given = values.flatMap((value) => value.match(/(?:\\.|\([^()]*\)|[^\s,\\])+/gs) ?? []);
  const items = given.filter((item) => item !== WITHOUT_OUTPUTS);
  const hidden = items.length === given.length ? undefined : 'analysis';
  const computed = items.map((item) => readComputed(item, parameter));
  if (computed.filter((one) => one !== undefined).length > MAX_COMPUTED) {
    throw badRequest(`Parameter fl: it has more than ${MAX_COMPUTED} renamed fields and functions.`);
  }
  const patterns = items.filter((_, i) => computed[i] === undefined).map(readPattern);
  const exact = new Set(patterns.filter(isExact).map((pattern) => pattern.join('')));
  const globs = patterns.filter((pattern) => !isExact(pattern));
  // `fl=score` alone means all fields with the score, as in Solr.
  const all =
    globs.some((pattern) => pattern.every((part) => typeof part === 'object' && part.any === '*')) ||
    (patterns.length === items.length && globs.length === 0 && [...exact].every((name) => name === 'score'));
  return {
    all: all && hidden === undefined,
    score: exact.has('score') || (items.length === 0 && ranked),
    includes: (field) =>
      exact.has(field.name) ||
      (field.returnedByDefault &&
        field.origin !== hidden &&
        (all || globs.some((pattern) => matches(pattern, [...field.name])))),
    computed: computed.filter((one) => one !== undefined),
  };
}

export function needsScores(list: FieldList): boolean {
  return list.score || list.computed.some(({ kind }) => kind === 'score');
}

/** The distances that a response needs, in the order of `computed`. */
export function requestedDistances(list: FieldList): Distance[] {
  return list.computed.flatMap((one) => (one.kind === 'distance' ? [one.distance] : []));
}

/** `as:name` or a function. Undefined for a plain name or pattern. */
function readComputed(item: string, parameter: ParameterLookup): ComputedField | undefined {
  const renamed = /^((?:\\.|[^\\:(])+):(.+)$/su.exec(item);
  const source = renamed?.[2] ?? item;
  const alias = unescapeBackslashes(renamed?.[1] ?? source);
  if (/^(?:\\.|[^\\(])*\(/su.test(source) || source.startsWith('[')) {
    const distance = withErrorContext('fl', () => parseGeodist(source, parameter));
    if (distance !== null) return { alias, kind: 'distance', distance };
    const name = /^field\(\s*([^()'",\s]+)\s*\)$/.exec(source)?.[1];
    if (name !== undefined) return { alias, kind: 'field', name };
    throw badRequest(`Parameter fl: ${quote(source)} is not understood: use names, score, geodist() or field(name).`);
  }
  if (renamed === null) return undefined;
  const name = unescapeBackslashes(source);
  return name === 'score' ? { alias, kind: 'score' } : { alias, kind: 'field', name };
}

/** The fields of a schema that `fl` requests, under any name. */
export function requestedFields(list: FieldList, schema: Schema): Field[] {
  const renamed = new Set(list.computed.flatMap((one) => (one.kind === 'field' ? [one.name] : [])));
  return [...schema.values()].filter(
    (field) => field.type !== 'text' && (list.includes(field) || renamed.has(field.name)),
  );
}

/**
 * The names of the fields to read, for the store: `*` and single fields. `hidden` are fields that are read only to be
 * shown under other names.
 */
export function fieldNames(list: FieldList, schema: Schema): { names: string[]; hidden: ReadonlySet<string> } {
  const wanted = requestedFields(list, schema);
  const named = wanted.filter((field) => !list.all || !field.returnedByDefault);
  return {
    names: [...(list.all ? ['*'] : []), ...named.map(({ name }) => literalName(name))],
    hidden: new Set(wanted.filter((field) => !list.includes(field)).map(({ name }) => name)),
  };
}

/** The name of a field for the store, to which `*` alone means all fields. */
export function literalName(name: string): string {
  return name.replace(/[\\*]/g, '\\$&');
}

function readPattern(text: string): Pattern {
  return [...text.matchAll(/\\(.)|(.)/gsu)].map(([, escaped, plain]) =>
    plain === '*' || plain === '?' ? { any: plain } : ((escaped ?? plain) as string),
  );
}

function isExact(pattern: Pattern): boolean {
  return pattern.every((part) => typeof part === 'string');
}

/** Backtracks only to the last `*`, so that the time is at most the length of the pattern times that of the name. */
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
