// Measures what shards cost: `npm run shards -- --documents 20000` in bench/. The same documents go into collections
// with different numbers of shards, in turns. Each import begins when the background work of the last one has ended.
// Then the same searches run on all collections. `--record yes` replaces the costs that planning computes from.
import { collectionUrl, startAkin } from './lib/akin.mjs';
import { recordCosts, short } from './lib/costs.mjs';
import { documentsFile, idOf } from './lib/documents.mjs';
import { createDatabase } from './lib/engines.mjs';
import { median, printTable, quantile, quantiles, ratios, spread } from './lib/figures.mjs';
import { publish, send, sendDocuments, sendJson, timed } from './lib/http.mjs';
import { cpuSeconds, printMachine } from './lib/machine.mjs';
import { listOf, readOptions } from './lib/options.mjs';
import { createDice } from './lib/random.mjs';

/**
 * Processes are idle if they use less than this share of a core for the next number of seconds. Some of their
 * background work runs only every 30 s.
 */
const AT_REST = 0.05;
const REST_SECONDS = 33;
const LONGEST_REST_SECONDS = 600;

const options = readOptions({
  documents: '20000',
  shards: '1,4',
  rounds: '3',
  searches: '200',
  pictures: '',
  record: '',
});
const count = Number(options.documents);
const numbers = listOf(options.shards).map(Number);

printMachine();
const file = await documentsFile(count, options.pictures);
const database = await createDatabase('postgres');
const akin = await startAkin([...database.args, '--no-throttle']);
const db = await database.openBare();
const [{ file: postmaster }] = await db.query("select pg_read_file('postmaster.pid') as file");
const postgres = Number(postmaster.split('\n')[0]);
const imports = new Map(numbers.map((shards) => [shards, []]));
const searches = new Map(numbers.map((shards) => [shards, new Map()]));

// The server would run its autovacuum at any time. akin itself runs the vacuums that matter.
await db.query('alter system set autovacuum = off');
await db.query('select pg_reload_conf()');
for (let round = 0; round <= Number(options.rounds); round++) {
  for (const shards of numbers) {
    await sendJson(`${collectionUrl(akin.url, nameOf(shards, round))}?shards=${shards}`, { method: 'PUT' });
  }
}
await waitUntilIdle();
// The first round is not counted, because code is compiled and files grow.
for (let round = 0; round <= Number(options.rounds); round++) {
  // The order changes in each round.
  const order = round % 2 === 0 ? [...numbers].reverse() : numbers;
  for (const shards of order) {
    const cost = await fill(shards, round);
    if (round > 0) imports.get(shards).push(cost);
  }
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
const [least] = numbers;
const ofImports = (shards, pick) => median(imports.get(shards).map(pick));
/** CPU milliseconds per document. */
const cpuOf = (shards, pick) => (1_000 * ofImports(shards, pick)) / count;
const together = (run) => run.akin + run.postgres;
/** Ratios of imports of the same round, because a machine that slows down slows both. */
const inPairs = (shards, pick) => spread(ratios(imports.get(shards).map(pick), imports.get(least).map(pick)), 2);
printTable(`${count} documents with outputs and thumbnails, medians of ${options.rounds}; proportions of pairs`, [
  [
    ...['shards', 'accepting s', 'applying s', 'CPU ms a document: akin', 'PostgreSQL', 'together'],
    ...[`of shards=${least}: akin`, 'PostgreSQL', 'together', 'CPU ms afterwards'],
  ],
  ...numbers.map((shards) => [
    String(shards),
    ofImports(shards, ({ accepting }) => accepting).toFixed(1),
    ofImports(shards, ({ applying }) => applying).toFixed(1),
    cpuOf(shards, ({ akin }) => akin).toFixed(2),
    cpuOf(shards, ({ postgres }) => postgres).toFixed(2),
    cpuOf(shards, together).toFixed(2),
    inPairs(shards, ({ akin }) => akin),
    inPairs(shards, ({ postgres }) => postgres),
    inPairs(shards, together),
    cpuOf(shards, ({ afterwards }) => afterwards).toFixed(2),
  ]),
]);
const p95 = (shards, kind) => quantile(searches.get(shards).get(kind), 0.95);
printTable('searches one after the other, milliseconds: p50 / p95; p95 in proportion', [
  ['search', ...numbers.map((shards) => `shards=${shards}`), ...numbers.slice(1).map((one) => `${one} / ${least}`)],
  ...Object.keys(kinds).map((kind) => [
    kind,
    ...numbers.map((shards) => quantiles(searches.get(shards).get(kind))),
    ...numbers.slice(1).map((one) => (p95(one, kind) / p95(least, kind)).toFixed(2)),
  ]),
]);
if (options.record) await record();
printMachine();
await db.close();
await akin.stop();
await database.close();

/** Records what a document and a ranked search cost. */
async function record() {
  const command = `npm run shards -- --documents ${count} --record yes`;
  const changes = numbers.map((shards) => ({
    shards,
    akinCpuMs: short(cpuOf(shards, ({ akin }) => akin)),
    postgresCpuMs: short(cpuOf(shards, ({ postgres }) => postgres)),
  }));
  await recordCosts('change', command, { changes });
  const before = cpuNow();
  const times = [];
  for (let i = 0; i < Number(options.searches); i++) {
    const path = kinds['ranked, all']();
    times.push(await timed(() => send(`${collectionUrl(akin.url, nameOf(least, 1))}${path}`)));
  }
  const after = cpuNow();
  const each = (seconds) => short((1_000 * seconds) / times.length);
  await recordCosts('search', command, {
    documents: count,
    ms: short(median(times)),
    akinCpuMs: each(after.akin - before.akin),
    postgresCpuMs: each(after.postgres - before.postgres),
  });
}

function nameOf(shards, round) {
  return `shards-${shards}-${round}`;
}

async function fill(shards, round) {
  const url = collectionUrl(akin.url, nameOf(shards, round));
  const before = cpuNow();
  const accepting = await timed(() => sendDocuments(url, file));
  const applying = await timed(() => publish(url));
  const visible = cpuNow();
  // Otherwise the work on groups and statistics of this collection would count for the next one.
  await waitUntilIdle();
  const after = cpuNow();
  return {
    accepting: accepting / 1_000,
    applying: applying / 1_000,
    akin: visible.akin - before.akin,
    postgres: visible.postgres - before.postgres,
    afterwards: after.akin + after.postgres - visible.akin - visible.postgres,
  };
}

function cpuNow() {
  return { akin: cpuSeconds(akin.pid), postgres: cpuSeconds(postgres, true) };
}

/** Waits until the background work is done. */
async function waitUntilIdle() {
  const until = performance.now() + LONGEST_REST_SECONDS * 1_000;
  for (let quiet = 0, last = cpuNow(); quiet < REST_SECONDS; ) {
    if (performance.now() > until) throw new Error('akin or PostgreSQL does not come to rest.');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const now = cpuNow();
    quiet = now.akin + now.postgres - last.akin - last.postgres < AT_REST ? quiet + 1 : 0;
    last = now;
  }
}

/** Returns a function for each kind of search. Each call of it creates the path of a different search. */
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
