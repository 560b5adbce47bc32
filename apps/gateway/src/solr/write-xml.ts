import { Double, formatDate, JsonNumber, JsonObject } from '@akin/domain';

type Members = Iterable<readonly [name: string | null, value: unknown]>;

export const XML_TYPE = 'application/xml; charset=UTF-8';

/**
 * Arrays of alternating names and values, which are lists of names in XML. `*` matches any name. Responses in XML are
 * made with `json.nl=flat`.
 */
const FLAT_LISTS = [
  'error/metadata',
  'terms/*',
  'facet_counts/facet_fields/*',
  'facet_counts/facet_ranges/*/counts',
].map((path) => path.split('/'));

const INT_MIN = -(2 ** 31);
const INT_MAX = 2 ** 31 - 1;

/**
 * A response in the format of Solr's XML writer: `<lst>` for objects, `<arr>` for arrays, `<result>` with `<doc>` for
 * search results, and an element named by its type for each value. `score` is a `<float>`, which Solr's clients expect.
 *
 * @param indent blanks per level; 0 writes one line
 */
export function writeXml(body: Readonly<Record<string, unknown>>, indent: number): string {
  const writer = new XmlWriter(indent);
  writer.members('response', [], Object.entries(body), [], 0);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writer.text()}\n`;
}

type Attributes = readonly (readonly [name: string, value: unknown])[];

class XmlWriter {
  readonly #indent: number;
  readonly #parts: string[] = [];

  constructor(indent: number) {
    this.#indent = indent;
  }

  text(): string {
    return this.#parts.join('');
  }

  /** An element that contains the elements of all members. */
  members(element: string, attributes: Attributes, members: Members, path: readonly string[], depth: number): void {
    this.#elements(element, attributes, depth, () => {
      for (const [name, value] of members) this.#value(name, value, [...path, name ?? ''], depth + 1);
    });
  }

  #value(name: string | null, value: unknown, path: readonly string[], depth: number): void {
    const named: Attributes = name === null ? [] : [['name', name]];
    if (value === undefined) return;
    if (typeof value !== 'object' || value === null || value instanceof Date || isNumber(value)) {
      const [type, text] = scalar(value, name === 'score');
      this.#leaf(type, named, text, depth);
    } else if (Array.isArray(value)) {
      if (FLAT_LISTS.some((list) => matches(list, path)))
        this.members('lst', named, namedListEntries(value), path, depth);
      else {
        this.#elements('arr', named, depth, () => {
          for (const one of value) this.#value(null, one, path, depth + 1);
        });
      }
    } else if (name !== null && isResultList(name, value, path)) {
      this.#result(name, value as ResultList, depth);
    } else {
      this.members('lst', named, membersOf(value), path, depth);
    }
  }

  #result(name: string, { docs, numFound, start, maxScore, numFoundExact }: ResultList, depth: number): void {
    const attributes = Object.entries({ name, numFound, start, maxScore, numFoundExact });
    this.#elements('result', attributes, depth, () => {
      for (const document of docs) this.members('doc', [], membersOf(document), ['doc'], depth + 1);
    });
  }

  #elements(element: string, attributes: Attributes, depth: number, content: () => void): void {
    this.#line(depth, `<${element}${attributesText(attributes)}>`);
    const before = this.#parts.length;
    content();
    if (this.#parts.length === before) {
      const open = this.#parts.pop() as string;
      this.#parts.push(`${open.slice(0, -1)}/>`);
    } else this.#line(depth, `</${element}>`);
  }

  #leaf(type: string, attributes: Attributes, text: string, depth: number): void {
    const content = text === '' ? '/>' : `>${escapeXml(text)}</${type}>`;
    this.#line(depth, `<${type}${attributesText(attributes)}${content}`);
  }

  #line(depth: number, text: string): void {
    const margin = this.#indent === 0 || this.#parts.length === 0 ? '' : `\n${' '.repeat(this.#indent * depth)}`;
    this.#parts.push(margin + text);
  }
}

/** Lists of documents: that of the response, of groups, and of expanded ones by their value. */
function isResultList(name: string, value: object, [first, ...path]: readonly string[]): boolean {
  if (!('docs' in value)) return false;
  return (
    (path.length === 0 && name === 'response') || first === 'grouped' || (first === 'expanded' && path.length === 1)
  );
}

interface ResultList {
  readonly docs: readonly object[];
  readonly numFound: unknown;
  readonly start: unknown;
  readonly maxScore?: unknown;
  readonly numFoundExact: unknown;
}

function scalar(value: unknown, isScore: boolean): [type: string, text: string] {
  switch (typeof value) {
    case 'string':
      return ['str', value];
    case 'boolean':
      return ['bool', String(value)];
    case 'bigint':
      return ['long', String(value)];
    case 'number':
      if (!Number.isInteger(value)) return ['double', String(value)];
      return [value >= INT_MIN && value <= INT_MAX ? 'int' : 'long', String(value)];
  }
  if (value instanceof Date) return ['date', formatDate(value)];
  if (value instanceof Double) return [isScore ? 'float' : 'double', doubleText(value)];
  if (value instanceof JsonNumber) return [value.isLong() ? 'long' : 'double', value.text];
  return ['null', ''];
}

function isNumber(value: object): boolean {
  return value instanceof Double || value instanceof JsonNumber;
}

function doubleText({ value }: Double): string {
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function membersOf(value: object): Members {
  if (value instanceof Map) return value as Map<string, unknown>;
  return value instanceof JsonObject ? value.entries : Object.entries(value);
}

/** Alternating names and values. A name of null is one that Solr leaves out. */
function* namedListEntries(list: readonly unknown[]): Generator<[string | null, unknown]> {
  for (let i = 0; i + 1 < list.length; i += 2) {
    const name = list[i];
    yield [name === null ? null : scalar(name, false)[1], list[i + 1]];
  }
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.length === path.length && pattern.every((part, i) => part === '*' || part === path[i]);
}

function attributesText(attributes: Attributes): string {
  return attributes
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = value instanceof Double ? doubleText(value) : String(value);
      // A parser turns line ends and tabs of an attribute into blanks unless they are references.
      return ` ${name}="${escapeXml(text).replace(/[\t\n"]/g, (char) => `&#${char.charCodeAt(0)};`)}"`;
    })
    .join('');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot contain these, not even as a reference
const UNWRITABLE = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu;

/** Text for any place in XML. Characters that XML does not allow are written as in Solr, by their numbers: `#7;`. */
function escapeXml(text: string): string {
  return text
    .replace(UNWRITABLE, (char) => `#${char.charCodeAt(0)};`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;');
}
