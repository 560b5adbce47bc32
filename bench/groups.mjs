// Measures how long groups of near-duplicates take, with the searcher and in SQL alone:
// `npm run groups -- --documents 100000`. It uses the store's interface, without HTTP, analysis and commits. Rows are
// made up around analyzed pictures and written straight into the tables.
import { MODULES } from '@akin/modules/manifests';
import { descriptorTexts, groupRule, parseOutputs } from '@akin/modules/vectors';
import { openStore } from '@akin/store';
import { createCollection } from '@akin/store/database';
import { updateGroups } from '@akin/store/maintenance';
import { createServices } from '@akin/testing';
import pg from 'pg';
import { describeMachine } from './lib/machine.mjs';
import { readOptions } from './lib/options.mjs';
import { createDice } from './lib/random.mjs';
import { analyzeSeeds } from './lib/seeds.mjs';

const options = readOptions({
  documents: '100000',
  /** Number of documents that the next commit adds. */
  fresh: '10000',
  /** Folder of pictures around which documents are made up. Default: drawn pictures. */
  pictures: '',
  seeds: '300',
  /**
   * Number of additional documents whose groups are found in SQL alone: for large collections, a first pass in SQL
   * takes too long.
   */
  sample: '500',
  /** The variants of a first pass, which are measured one after the other. */
  ways: 'memory,database',
});
const [count, fresh, sample] = [options.documents, options.fresh, options.sample].map(Number);
const ROWS = 2_000;
/** One of this many pictures is a copy of an earlier one. */
const COPIES = 10;
/** Length of the noise that is added to the mixture of two pictures, and to copies. */
const NOISE = 0.5;
const COPY_NOISE = 0.3;
const rule = groupRule();

console.log(describeMachine());
const services = createServices();
const databaseUrl = await services.postgres();
const seeds = (await analyzeSeeds(options.pictures, Number(options.seeds))).map(
  ({ outputs }) => outputs.descriptors.get(rule.module).vector,
);
const client = new pg.Client(databaseUrl);
await client.connect();
const results = [];

console.log(
  '| way | documents | documents/s, first tenth and last | first pass s | further documents s | bytes a document |',
);
console.log('| --- | --- | --- | --- | --- | --- |');
for (const way of options.ways.split(',')) {
  const store = await open(way === 'memory');
  const collection = await createCollection(store, `groups-${way}-${Date.now()}`);
  const S = collection.sqlSchema;
  const dice = createDice(3);
  const made = [];
  await fill(collection, dice, made, count, 1);
  const first = await update(store, collection);
  const bytes = store.inMemory.use.bytes / count;
  await fill(collection, dice, made, fresh, 2);
  const further = await update(store, collection);
  console.log(
    `| ${way} | ${count} | ${rate(first.parts[0])}, ${rate(first.parts.at(-1))} | ${first.seconds.toFixed(1)} | ${further.seconds.toFixed(1)} | ${bytes.toFixed(0)} |`,
  );
  const { rows } = await client.query(
    `select (select count(*) from ${S}.representatives) as representatives, count(*) as followers,
            md5(string_agg(doc || ' ' || representative, ',' order by doc)) as mark from ${S}.followers`,
  );
  results.push(JSON.stringify(rows[0]));
  console.log(`  ${results.at(-1)}, in memory ${first.inMemory + further.inMemory} of ${count + fresh}`);
  await store[Symbol.asyncDispose]();
  if (way !== 'memory' || sample === 0) continue;
  const alone = await open(false);
  await fill(collection, dice, made, sample, 3);
  const { seconds } = await update(alone, collection);
  console.log(`  then ${sample} in SQL alone: ${rate({ documents: sample, seconds })} documents/s`);
  await alone[Symbol.asyncDispose]();
}
if (new Set(results).size > 1) throw new Error('the ways made different groups');
console.log(describeMachine());
await client.end();
await services[Symbol.asyncDispose]();

function rate({ documents, seconds }) {
  return Math.round(documents / seconds);
}

function open(inMemory) {
  const config = { databaseUrl, modules: MODULES, parseOutputs, descriptorTexts, throttled: false };
  return openStore(inMemory ? config : { ...config, searchMemory: 0 });
}

/** Updates the groups to the last commit, and returns how long each tenth of the documents took. */
async function update(store, collection) {
  const began = performance.now();
  const parts = [];
  let [documents, inMemory, last] = [0, 0, began];
  const onGrouped = (more, isInMemory) => {
    documents += more;
    if (isInMemory) inMemory += more;
    if (documents < count / 10) return;
    parts.push({ documents, seconds: (performance.now() - last) / 1000 });
    [documents, last] = [0, performance.now()];
  };
  while (!(await updateGroups(store, collection, rule, { milliseconds: 2_000, onGrouped })));
  return { parts, inMemory, seconds: (performance.now() - began) / 1000 };
}

function unit(vector) {
  const length = Math.hypot(...vector);
  return vector.map((number) => number / length);
}

function mixed(a, b, share, noisy) {
  return noisy(unit(a.map((number, i) => number * share + b[i] * (1 - share))), NOISE);
}

function makeVector(dice, made) {
  const noisy = (vector, noise) =>
    unit(vector.map((number) => number + (noise / Math.sqrt(vector.length)) * dice.normal()));
  const vector =
    made.length > 0 && dice.whole(COPIES) === 0
      ? noisy(dice.one(made), COPY_NOISE)
      : mixed(dice.one(seeds), dice.one(seeds), 0.3 + 0.4 * dice.number(), noisy);
  // Only some vectors are kept for copies, because all of them would take much memory.
  if (made.length < 50_000) made.push(vector);
  return vector;
}

/** Writes the rows that a commit would write. */
async function fill({ id, sqlSchema: S }, dice, made, more, commit) {
  const { rows } = await client.query(`select coalesce(max(doc), 0)::int as last from ${S}.documents`);
  for (let from = 0; from < more; from += ROWS) {
    const vectors = Array.from({ length: Math.min(ROWS, more - from) }, () => makeVector(dice, made));
    await client.query(
      `with rows as (select $1::bigint + n as doc, vector from unnest($2::halfvec[]) with ordinality r (vector, n)),
            descriptors as (insert into ${S}.descriptors_duplicate (doc, vector, codes) select doc, vector, '' from rows)
       insert into ${S}.documents (doc, id, seq, valid_from) select doc, 'd' || doc, doc, $3 from rows`,
      [rows[0].last + from, vectors.map((vector) => `[${Array.from(vector, (number) => number.toFixed(5))}]`), commit],
    );
  }
  await client.query(`update ${S}.descriptor_counts set documents = documents + $1 where module = $2`, [
    more,
    rule.module,
  ]);
  await client.query(`insert into ${S}.commits (number) values ($1)`, [commit]);
  await client.query('update akin.collections set commit = $2, documents = documents + $3 where id = $1', [
    id,
    commit,
    more,
  ]);
  for (const table of ['documents', 'descriptors_duplicate']) await client.query(`vacuum analyze ${S}.${table}`);
}
