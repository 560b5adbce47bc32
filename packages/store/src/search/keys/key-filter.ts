import {
  AkinError,
  fieldsOf,
  JsonObject,
  PRECONFIGURED_FIELDS,
  parseDate,
  parseQuery,
  type Query,
  quote,
  type Schema,
  TypeClaims,
  validateDocument,
} from '@akin/domain';
import type { KeyFilter, SearchStore } from '../context.ts';
import { readBoolean, readDate, readDouble } from '../query-values.ts';

export const MAX_KEY_FILTER = 4_000;

/** The store for the requests of a key with a filter: it returns and changes only documents inside. */
export function withKeyFilter<S extends SearchStore>(store: S, keyFilter: KeyFilter): S {
  return { ...store, keyFilter };
}

/**
 * Parses the filter of a key. It knows neither parameters of the request nor a default field, so that a request cannot
 * change its meaning.
 *
 * @throws AkinError bad-request
 */
export function parseKeyFilter(text: string): Query {
  if (text.trim() === '' || text.length > MAX_KEY_FILTER) {
    throw new AkinError('bad-request', `it must have 1 to ${MAX_KEY_FILTER} characters`);
  }
  return parseQuery(text);
}

/** The queries of a key that decide which documents it sees. */
export type ShownPart = Pick<KeyFilter, 'queries' | 'clock'>;

/** The filter of a key for one collection: a query with a field that no document has matches nothing. */
export function keyFilterFor({ keyFilter }: SearchStore, schema: Schema): ShownPart | undefined {
  if (keyFilter === undefined) return undefined;
  const { queries, clock } = keyFilter;
  return { clock, queries: queries.map((query) => (isKnown(query, schema) ? query : NONE)) };
}

function isKnown(query: Query, schema: Schema): boolean {
  return fieldsOf(query).every((name) => schema.has(name));
}

const NONE: Query = { kind: 'none' };

/** The text of a query that matches nothing. */
const NOTHING = '-*:*';

/**
 * The text of a query that deletes what matches it and the filter of the key. Each part is quoted as a whole, so that
 * its text cannot end the others.
 */
export function limitDelete({ keyFilter }: SearchStore, schema: Schema, query: string): string {
  if (keyFilter === undefined) return query;
  const { queries, texts } = keyFilter;
  const known = texts.map((text, i) => (isKnown(queries[i] ?? NONE, schema) ? text : NOTHING));
  return [query, ...known].map((text) => `+_query_:"${text.replace(/[\\"]/g, '\\$&')}"`).join(' ');
}

/** Names that are no fields of a document, or whose values akin does not keep as they are. */
const NOT_SET: readonly string[] = ['id', 'image', 'import', 'pxl_import', 'thumbnail', 'location', 'labels', 'source'];
const MAX_SET_FIELDS = 20;

/**
 * Reads the fields that a key sets, each as `field=value`.
 *
 * @throws AkinError bad-request for other texts, fields that cannot be set, and a field that is named twice
 */
export function readSetFields(texts: readonly string[]): ReadonlyMap<string, string> {
  const fail = (problem: string) => new AkinError('bad-request', `Parameter set: ${problem}.`);
  if (texts.length > MAX_SET_FIELDS) throw fail(`a key sets at most ${MAX_SET_FIELDS} fields`);
  const set = new Map<string, string>();
  for (const text of texts) {
    const [, name = '', value = ''] = /^([^=]+)=(.+)$/su.exec(text) ?? [];
    if (name === '') throw fail(`it must be field=value, such as tenant=a; it is ${quote(text)}`);
    if (set.has(name)) throw fail(`${quote(name)} is given twice`);
    const document = new JsonObject([
      ['id', 'any'],
      [name, value],
    ]);
    const fields = new Map(PRECONFIGURED_FIELDS.map((field) => [field.name, field]));
    const read = validateDocument(document, 0, fields, new TypeClaims());
    const isField = !NOT_SET.includes(name) && 'document' in read && read.document.fields.has(name);
    if (!isField) throw fail(`${quote(name)} is not a field that a key can set to ${quote(value)}`);
    set.set(name, value);
  }
  return set;
}

/**
 * Whether a query matches every document with some values, whatever else is in it, and whatever types their fields get.
 *
 * @param set values by field
 */
export function matchesAllWith(query: Query, set: ReadonlyMap<string, string>): boolean {
  return outcome(query, set) === true;
}

/** Undefined: other fields decide. */
function outcome(query: Query, set: ReadonlyMap<string, string>): boolean | undefined {
  switch (query.kind) {
    case 'all':
      return true;
    case 'none':
      return false;
    case 'term':
    case 'phrase': {
      const value = set.get(query.field);
      if (value === undefined || (value !== query.value && mayBeEqual(value, query.value))) return undefined;
      return value === query.value;
    }
    case 'exists':
      return set.has(query.field) ? true : undefined;
    case 'boost':
    case 'constant':
      return outcome(query.query, set);
    case 'bool': {
      const required = query.must.map((one) => outcome(one, set));
      if (query.must.length === 0) required.push(any(query.should.map((one) => outcome(one, set))));
      const excluded = any(query.mustNot.map((one) => outcome(one, set)));
      required.push(excluded === undefined ? undefined : !excluded);
      if (required.includes(false)) return false;
      return required.includes(undefined) ? undefined : true;
    }
    default:
      return undefined;
  }
}

/** Whether two different texts are one value in a field of some type: 1 and 1.0, true and t, a day and its noon. */
function mayBeEqual(set: string, asked: string): boolean {
  const [number, boolean, date] = [readDouble(set), readBoolean(set), parseDate(set)];
  if (number !== null && number === readDouble(asked)) return true;
  if (boolean !== null && boolean === readBoolean(asked)) return true;
  if (date === null) return false;
  if (parseDate(asked) === null) return readDate(asked, ANY_CLOCK) !== null;
  const span = readDate(asked, ANY_CLOCK);
  return span !== null && span.first <= date && date < span.next;
}

/** Date math is not compared: it depends on the time. */
const ANY_CLOCK = { now: new Date(0), timeZone: 'UTC' };

function any(outcomes: readonly (boolean | undefined)[]): boolean | undefined {
  if (outcomes.includes(true)) return true;
  return outcomes.includes(undefined) ? undefined : false;
}
