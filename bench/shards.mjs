// What shards cost: `npm run shards -- --documents 20000` in bench/. The same documents go into collections of each number
// of shards, in turns, and then the same searches.
import { collectionUrl, startAkin } from './lib/akin.mjs';
import { documentsFile, idOf } from './lib/documents.mjs';
import { createPlace } from './lib/engines.mjs';
import { median, printTable, quantiles } from './lib/figures.mjs';
import { publish, send, sendDocuments, sendJson, timed } from './lib/http.mjs';
import { cpuSeconds, printMachine } from './lib/machine.mjs';
import { listOf, readOptions } from './lib/options.mjs';
import { createDice } from './lib/random.mjs';

const options = readOptions({ documents: '20000', shards: '1,4', rounds: '3', searches: '200', pictures: '' });
const count = Number(options.documents);
const numbers = listOf(options.shards).map(Number);

printMachine();
const file = await documentsFile(count, options.pictures);
const place = await createPlace('postgres');
const akin = await startAkin([...place.args, '--search-slowdown', '0']);
const db = await place.openBare();
const [{ file: postmaster }] = await db.query("select pg_read_file('postmaster.pid') as file");
const postgres = Number(postmaster.split('\n')[0]);
const imports = new Map(numbers.map((shards) => [shards, []]));
const searches = new Map(numbers.map((shards) => [shards, new Map()]));

for (let round = 1; round <= Number(options.rounds); round++) {
  // Who comes first changes.
  const order = round % 2 === 0 ? [...numbers].reverse() : numbers;
  for (const shards of order) imports.get(shards).push(await fill(shards, round));
}
const kinds = kindsOfSearches();
for (const part of ['warm', 'measured']) {
  for (let i = 0; i < Number(options.searches); i++) {
    for (const [kind, query] of Object.entries(kinds)) {
      const path = query();
      for (const shards of i % 2 === 0 ? numbers : [...numbers].reverse()) {
        const milliseconds = await timed(() => send(`${collectionUrl(akin.url, nameOf(shards, 1))}${path}`));
        if (part === 'warm') continue;
        const times = searches.get(shards);
        times.set(kind, [...(times.get(kind) ?? []), milliseconds]);
      }
    }
    if (part === 'warm' && i === 20) break;
  }
}
printTable(`${count} documents with outputs and thumbnails, medians of ${options.rounds}`, [
  ['shards', 'accepting s', 'applying s', 'CPU ms a document: akin', 'PostgreSQL', 'together'],
  ...numbers.map((shards) => {
    const runs = imports.get(shards);
    const of = (pick) => median(runs.map(pick));
    const each = (pick) => ((1_000 * of(pick)) / count).toFixed(2);
    return [
      String(shards),
      of(({ accepting }) => accepting).toFixed(1),
      of(({ applying }) => applying).toFixed(1),
      each((run) => run.akin),
      each((run) => run.postgres),
      each((run) => run.akin + run.postgres),
    ];
  }),
]);
printTable('searches one after the other, milliseconds: p50 / p95', [
  ['search', ...numbers.map((shards) => `shards=${shards}`)],
  ...Object.keys(kinds).map((kind) => [kind, ...numbers.map((shards) => quantiles(searches.get(shards).get(kind)))]),
]);
printMachine();
await db.close();
await akin.stop();
await place.close();

function nameOf(shards, round) {
  return `shards-${shards}-${round}`;
}

async function fill(shards, round) {
  const url = collectionUrl(akin.url, nameOf(shards, round));
  await sendJson(`${url}?shards=${shards}`, { method: 'PUT' });
  const before = { akin: cpuSeconds(akin.pid), postgres: cpuSeconds(postgres, true) };
  const accepting = await timed(() => sendDocuments(url, file));
  const applying = await timed(() => publish(url));
  return {
    accepting: accepting / 1_000,
    applying: applying / 1_000,
    akin: cpuSeconds(akin.pid) - before.akin,
    postgres: cpuSeconds(postgres, true) - before.postgres,
  };
}

/** Paths of searches, of each kind another one at each call. */
function kindsOfSearches() {
  const dice = createDice(5);
  const id = () => idOf(dice.whole(count));
  const select = (parameters) => `/select?${new URLSearchParams(parameters)}`;
  return {
    'document by id': () => select({ q: `id:${id()}` }),
    'filter of 1 %, sorted': () => select({ fq: `shelf:${dice.whole(100)}`, sort: 'price asc' }),
    words: () => select({ q: `title:${'abcdefgh'[dice.whole(8)]}*` }),
    'facet over everything': () => select({ rows: '0', facet: 'true', 'facet.field': 'category' }),
    'ranked, all': () => `/image?rank.by.id=${id()}`,
    'ranked, filter of 1 %': () => `/image?rank.by.id=${id()}&fq=shelf:${dice.whole(100)}`,
  };
}
