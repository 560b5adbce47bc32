import type { SearchEndpoint, SearchParameters } from '@akin/client';

/** A search of the page, for the code of a program that sends it. */
export interface SearchRequest {
  /** The URL of akin, without a slash at the end. */
  readonly server: string;
  readonly collection: string;
  readonly endpoint: SearchEndpoint;
  /** Without an uploaded picture. */
  readonly parameters: SearchParameters;
  /** Whether it also sends a picture, the file `picture.jpg`. */
  readonly sendsFile: boolean;
  /** Whether a key is needed: programs take it from AKIN_KEY. */
  readonly isKeyed: boolean;
}

export function asTypeScript({ server, collection, endpoint, parameters, sendsFile, isKeyed }: SearchRequest): string {
  const key = isKeyed ? ', key: process.env.AKIN_KEY' : '';
  const lines = entriesOf(parameters).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
  if (sendsFile) lines.push("  'rank.by.data': (await readFile('picture.jpg')).toString('base64'),");
  return [
    ...(sendsFile ? ["import { readFile } from 'node:fs/promises';"] : []),
    "import { createClient } from 'akin-client';",
    '',
    `const akin = createClient({ baseUrl: ${JSON.stringify(server)}${key} });`,
    `const { response } = await akin.collection(${JSON.stringify(collection)}).${endpoint}({`,
    ...lines,
    '});',
    'console.log(response.docs);',
  ].join('\n');
}

/** What the methods of akin's package for Python call the inputs of a ranking. */
const INPUTS: Readonly<Record<string, string>> = {
  'rank.by.id': 'id',
  'rank.by.url': 'url',
  'rank.by.hex': 'color',
  'rank.by.text': 'text',
};
const MODES: Readonly<Record<SearchEndpoint, string | undefined>> = {
  image: 'content',
  color: 'color',
  duplicate: 'duplicate',
  parts: 'parts',
  select: undefined,
};

/** With akin's own package: it leaves out the documents to rank by, as the page does. */
export function asPython({ server, collection, endpoint, parameters, sendsFile, isKeyed }: SearchRequest): string {
  const { q, fq, rows, sort, 'rank.mode': mode, 'rank.threshold': threshold, ...others } = parameters;
  const given = entriesOf(others);
  const inputs = given.flatMap(([name, value]): [string, unknown][] => {
    const input = INPUTS[name];
    return input === undefined ? [] : [[input, value]];
  });
  if (sendsFile) inputs.push(['file', 'picture.jpg']);
  const isRanked = inputs.length > 0;
  const wire = given.filter(([name]) => INPUTS[name] === undefined);
  if (isRanked && q !== undefined) wire.unshift(['q', q]);
  const options = Object.entries({
    ...Object.fromEntries(inputs),
    by: isRanked ? (mode ?? MODES[endpoint]) : undefined,
    threshold,
    filter: fq,
    limit: rows,
    sort,
  });
  const key = isKeyed ? ', os.environ["AKIN_KEY"]' : '';
  return [
    ...(isKeyed ? ['import os', ''] : []),
    'from akin_client import Client',
    '',
    `collection = Client(${pythonValue(server)}${key}).collection(${pythonValue(collection)})`,
    `found = collection.${isRanked ? 'similar' : 'search'}(`,
    ...(isRanked || q === undefined ? [] : [`    ${pythonValue(q)},`]),
    ...options.flatMap(([name, value]) => (value === undefined ? [] : [`    ${name}=${pythonValue(value)},`])),
    ...(wire.length > 0 ? [`    wire={${wire.map((pair) => pair.map(pythonValue).join(': ')).join(', ')}},`] : []),
    ')',
    'print(found.documents)',
  ].join('\n');
}

function entriesOf(parameters: SearchParameters): [string, unknown][] {
  return Object.entries(parameters).filter(([, value]) => value !== undefined);
}

/** Texts, numbers and lists are written as in JSON. */
function pythonValue(value: unknown): string {
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
}
