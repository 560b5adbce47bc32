import type { EndpointName } from '@akin/contract';
import { type Html, html } from './html.ts';

/** The placeholder of the URL in the examples. The script of the page replaces it with its own URL. */
const SERVER = 'http://127.0.0.1:8983';
const EXAMPLE_PATH_VALUES: Readonly<Record<string, string>> = { collection: 'my-collection' };

interface Sample {
  readonly query?: Readonly<Record<string, string>>;
  /** A JSON body, for example a document. */
  readonly json?: unknown;
  /** The picture is sent as a part `file`. */
  readonly file?: boolean;
}

/** Requests that the demo answers. Endpoints without an example are called with their required parameters. */
const SAMPLES: Readonly<{ [name in EndpointName]?: Sample }> = {
  select: { query: { q: 'category:footwear', rows: '3', fl: 'id,title,price' } },
  query: { query: { q: 'title:shoe', rows: '3', fl: 'id,title' } },
  image: { query: { 'rank.by.id': 'demo-006', fq: '-id:demo-006', rows: '5', fl: 'id,score' } },
  color: { query: { 'rank.by.hex': '0xE03C31', rows: '5', fl: 'id,score,color_names' } },
  duplicate: { query: { rows: '5', fl: 'id,score' }, file: true },
  get: { query: { id: 'demo-006', fl: 'id,title' } },
  terms: { query: { 'terms.fl': 'category', 'terms.limit': '5' } },
  tag: { query: { 'tagging.input.id': 'demo-006', 'tagging.field': 'category' } },
  thumbnail: { query: { id: 'demo-006' } },
  original: { query: { id: 'holiday/beach.jpg' } },
  update: { query: { commit: 'true' }, json: { id: 'mine', title: 'My own', price: 12.5 } },
  updateJson: { query: { commit: 'true' }, json: { id: 'mine', price: { set: 10 } } },
  updateJsonDocs: { query: { commit: 'true' }, json: [{ id: 'mine', title: 'My own' }] },
  analyze: { file: true },
  groups: { query: { rows: '5' } },
  decideGroups: { json: { ids: ['demo-006', 'demo-007'], decision: 'different' } },
  exportDocuments: { query: { rows: '100' } },
  operations: { query: { state: 'failed' } },
  retryOperations: { query: { reason: 'image-unreachable' } },
  createKey: { json: { scope: 'search', note: 'the shop', origins: ['https://shop.example'] } },
  defineFields: { json: { 'add-field': { name: 'price', type: 'pdouble' } } },
};

export interface Callable {
  /** The name of the endpoint, after which a method other than GET is named. */
  readonly name: string;
  /** In capitals, in the order of the page. */
  readonly methods: readonly string[];
  readonly path: string;
  /** Names of the required parameters, in addition to those in the path. */
  readonly required: readonly string[];
}

export function renderExamples(call: Callable): Html {
  const { query = {}, json, file = false } = SAMPLES[call.name.replace(/By[A-Z][a-z]+$/, '') as EndpointName] ?? {};
  const method = json === undefined && !file ? (call.methods[0] as string) : (call.methods.at(-1) as string);
  const all = { ...Object.fromEntries(call.required.map((name) => [name, `<${name}>`])), ...query };
  const path = call.path.replace(/\{(\w+)\}/g, (_, name: string) => EXAMPLE_PATH_VALUES[name] ?? `<${name}>`);
  const search = new URLSearchParams(json === undefined ? all : query)
    .toString()
    .replaceAll('%3C', '<')
    .replaceAll('%3E', '>');
  const request = { method, url: `${SERVER}${path}${search === '' ? '' : `?${search}`}`, json, file };
  const examples = { curl: curl(request), TypeScript: typescript(request), Python: python(request) };
  return html`${Object.entries(examples).map(
    ([language, text]) =>
      html`<details class="example" name="${call.name}"${language === 'curl' ? html` open` : ''}><summary>${language}</summary><pre tabindex="0"><code class="${language}">${text}</code></pre></details>`,
  )}`;
}

interface Request {
  readonly method: string;
  readonly url: string;
  readonly json: unknown;
  readonly file: boolean;
}

function curl({ method, url, json, file }: Request): string {
  if (file) return `curl '${url}' -F file=@photo.jpg`;
  if (json !== undefined) {
    const body = `-H 'content-type: application/json' \\\n  -d '${JSON.stringify(json)}'`;
    return `curl${method === 'POST' ? '' : ` -X ${method}`} '${url}' ${body}`;
  }
  return `curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`;
}

function typescript({ method, url, json, file }: Request): string {
  const read = 'console.log(response.status, await response.text());';
  if (file) {
    return `import { readFile } from 'node:fs/promises';\n\nconst headers = { 'content-type': 'application/octet-stream' };\nconst body = await readFile('photo.jpg');\nconst response = await fetch('${url}', { method: 'POST', headers, body });\n${read}`;
  }
  if (json !== undefined) {
    return `const response = await fetch('${url}', {\n  method: '${method}',\n  headers: { 'content-type': 'application/json' },\n  body: JSON.stringify(${JSON.stringify(json)}),\n});\n${read}`;
  }
  return `const response = await fetch('${url}'${method === 'GET' ? '' : `, { method: '${method}' }`});\n${read}`;
}

function python({ method, url, json, file }: Request): string {
  const head = json === undefined ? 'import urllib.request' : 'import json, urllib.request';
  const read = 'with urllib.request.urlopen(request) as response:\n    print(response.status, response.read())';
  const request = (...more: string[]) =>
    `request = urllib.request.Request(${[`'${url}'`, ...more, ...(more.length > 0 || method !== 'GET' ? [`method='${method}'`] : [])].join(', ')})`;
  const bytes = (type: string) => `{'Content-Type': '${type}'}`;
  if (file)
    return `${head}\n\nbody = open('photo.jpg', 'rb').read()\n${request('body', bytes('application/octet-stream'))}\n${read}`;
  if (json !== undefined) {
    return `${head}\n\nbody = json.dumps(${pythonOf(json)}).encode()\n${request('body', bytes('application/json'))}\n${read}`;
  }
  return `${head}\n\n${request()}\n${read}`;
}

/** JSON without true, false and null is Python too. */
const pythonOf = (json: unknown): string => JSON.stringify(json).replaceAll('":', '": ').replaceAll(',"', ', "');
