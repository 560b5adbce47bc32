// Measures ranking from memory at the store's interface, without HTTP and analysis:
// `npm run codes -- --documents 1000000`. Rows are made up and written straight into the tables, so that a million rows
// take seconds instead of an hour.
import { parseQuery } from '@akin/domain';
import { openStore } from '@akin/store';
import { createCollection } from '@akin/store/database';
import { search } from '@akin/store/search';
import { createServices } from '@akin/testing';
import pg from 'pg';
import { clusteredVectors } from '../lib/clustered.mjs';
import { median, quantile } from '../lib/figures.mjs';
import { describeMachine } from '../lib/machine.mjs';
import { readOptions } from '../lib/options.mjs';

const options = readOptions({
  documents: '100000',
  /** How many numbers a vector has. */
  dimensions: '256',
  /** Number of points around which vectors lie. */
  centers: '4000',
  queries: '24',
  /** Number of queries whose results are compared with the exact result. */
  compared: '6',
  clients: '16',
});
const [count, dimensions, centerCount] = [options.documents, options.dimensions, options.centers].map(Number);
const ROWS = 5_000;
const FIELDS = ['tenth', 'hundredth', 'thousandth', 'center'];
const VIEW = {
  name: 'view',
  outputs: [{ name: 'view_descriptor', type: 'string', returnedByDefault: false }],
  descriptor: { output: 'view_descriptor', cell: 'view_cluster', dimensions },
};

const { dice, around } = clusteredVectors({ dimensions, centers: centerCount, seed: 7 });

console.log(describeMachine());
const services = createServices();
const databaseUrl = await services.postgres();
const nothing = { fields: new Map(), descriptors: new Map() };
const store = await openStore({
  databaseUrl,
  modules: [VIEW],
  parseOutputs: () => nothing,
  descriptorTexts: () => new Map(),
});
const collection = await createCollection(store, 'codes');
await fill();

let began = performance.now();
let isRead = false;
while (!isRead) isRead = await ask(around(0)).then(({ ranking }) => ranking.inMemory, busy);
console.log(`Read into memory after ${((performance.now() - began) / 1000).toFixed(1)} s`);
console.log(`${(store.inMemory.use.bytes / count).toFixed(0)} bytes a document\n`);

console.log('| filter | matches | first time, p50 / p95 ms | again | compared | recall@10 |');
console.log('| --- | --- | --- | --- | --- | --- |');
for (const [title, filterOf] of [
  ['no filter', () => []],
  ['10 %', () => [`tenth:${dice.whole(10)}`]],
  ['1 %', () => [`hundredth:${dice.whole(100)}`]],
  ['0.1 %', () => [`thousandth:${dice.whole(1_000)}`]],
  ['10 % and 10 %', () => ['tenth:3', `center:[0 TO ${centerCount / 10 - 1}]`]],
  ['half of the centers', () => [`center:[0 TO ${centerCount / 2 - 1}]`]],
  ['all but 10 %', () => ['-tenth:4']],
]) {
  const [first, again, compared, recalls] = [[], [], [], []];
  let matches = 0;
  for (let i = 0; i < Number(options.queries); i++) {
    const vector = around(dice.whole(centerCount));
    const filters = filterOf().map((text) => parseQuery(text));
    first.push(await timed(() => ask(vector, { filters })));
    let result;
    again.push(
      await timed(async () => {
        result = await ask(vector, { filters });
      }),
    );
    compared.push(result.ranking.distances);
    matches = result.numFound;
    if (i >= Number(options.compared)) continue;
    const truth = await ask(vector, { filters }, 'off');
    const nearest = new Set(truth.hits.map(({ id }) => id));
    recalls.push(result.hits.filter(({ id }) => nearest.has(id)).length / nearest.size);
  }
  const times = (values) => `${median(values).toFixed(1)} / ${quantile(values, 0.95).toFixed(1)}`;
  const recall = recalls.reduce((sum, value) => sum + value, 0) / recalls.length;
  console.log(
    `| ${title} | ${matches} | ${times(first)} | ${times(again)} | ${median(compared)} | ${recall.toFixed(3)} |`,
  );
}

began = performance.now();
let done = 0;
await Promise.all(
  Array.from({ length: Number(options.clients) }, async () => {
    for (; performance.now() - began < 5_000; done++) await ask(around(dice.whole(centerCount)));
  }),
);
console.log(`\n${(done / ((performance.now() - began) / 1000)).toFixed(0)} searches/s of ${options.clients} clients`);
console.log(describeMachine());
await store[Symbol.asyncDispose]();
await services[Symbol.asyncDispose]();

function ask(vector, more = {}, smartfilter = 'low') {
  const rank = { module: 'view', vector, smartfilter };
  return search(store, collection, { query: parseQuery('*:*'), rows: 10, fields: ['id'], rank, ...more });
}

async function busy(error) {
  if (error.code !== 'unavailable') throw error;
  await new Promise((resolve) => setTimeout(resolve, 100));
  return false;
}

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Writes the rows that commits would write, as of commit 1. */
async function fill() {
  const S = collection.sqlSchema;
  const client = new pg.Client(databaseUrl);
  await client.connect();
  for (const [i, field] of FIELDS.entries()) {
    await client.query(`alter table ${S}.documents add column ${field} bigint`);
    const row = `select 1000 + ${i}, '${field}', 'long', 'document', '${field}'`;
    await client.query(`insert into ${S}.fields (number, name, type, origin, "column") ${row}`);
  }
  for (let from = 0; from < count; from += ROWS) {
    const rows = Array.from({ length: Math.min(ROWS, count - from) }, () => dice.whole(centerCount));
    await client.query(
      `with rows as (
         select $1::bigint + n as doc, center, vector from unnest($2::bigint[], $3::halfvec[]) with ordinality r (center, vector, n)
       ), descriptors as (insert into ${S}.descriptors_view (doc, vector, codes) select doc, vector, '' from rows)
       insert into ${S}.documents (doc, id, seq, valid_from, tenth, hundredth, thousandth, center)
       select doc, 'd' || doc, doc, 1, doc % 10, doc % 100, doc % 1000, center from rows`,
      [
        from,
        rows,
        rows.map(
          (center) =>
            `[${around(center)
              .map((number) => number.toFixed(5))
              .join()}]`,
        ),
      ],
    );
  }
  await client.query(`update ${S}.descriptor_counts set documents = $1`, [count]);
  await client.query(`insert into ${S}.commits (number) values (1)`);
  await client.query(
    'update akin.collections set commit = 1, documents = $2, schema_version = schema_version + 1 where id = $1',
    [collection.id, count],
  );
  for (const field of FIELDS) await client.query(`create index on ${S}.documents (${field})`);
  for (const table of ['documents', 'descriptors_view']) await client.query(`vacuum analyze ${S}.${table}`);
  await client.end();
}
