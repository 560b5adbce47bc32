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

/** Needs no package. */
export function asPython({ server, collection, endpoint, parameters, sendsFile, isKeyed }: SearchRequest): string {
  const url = `${server}/api/cores/${encodeURIComponent(collection)}/${endpoint}`;
  const pairs = entriesOf(parameters).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => `    (${pythonText(name)}, ${pythonText(String(one))}),`),
  );
  if (sendsFile) pairs.push('    ("rank.by.data", base64.b64encode(open("picture.jpg", "rb").read()).decode()),');
  const modules = [sendsFile ? 'base64' : '', 'json', isKeyed ? 'os' : '', 'urllib.parse', 'urllib.request'];
  const headers = isKeyed ? ', headers={"Authorization": "Bearer " + os.environ["AKIN_KEY"]}' : '';
  return [
    `import ${modules.filter(Boolean).join(', ')}`,
    '',
    'parameters = [',
    ...pairs,
    ']',
    'body = urllib.parse.urlencode(parameters).encode()',
    `request = urllib.request.Request(${pythonText(url)}, body${headers})`,
    'print(json.load(urllib.request.urlopen(request))["response"]["docs"])',
  ].join('\n');
}

function entriesOf(parameters: SearchParameters): [string, unknown][] {
  return Object.entries(parameters).filter(([, value]) => value !== undefined);
}

/** JSON has the same escapes as Python. */
function pythonText(text: string): string {
  return JSON.stringify(text);
}
