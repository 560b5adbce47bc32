// Searches over HTTP beside the bare SQL for the same page and the same count, in turns: `node bench/search.mjs`.
import { COLLECTION, startAkin } from './lib/akin.mjs';
import { documentsFile, idOf, wordAt } from './lib/documents.mjs';
import { createPlace } from './lib/engines.mjs';
import { printTable, quantiles, ratios, spread } from './lib/figures.mjs';
import { publish, sendDocuments, sendJson, timed } from './lib/http.mjs';
import { printMachine } from './lib/machine.mjs';
import { listOf, readOptions } from './lib/options.mjs';
import { createDice } from './lib/random.mjs';

const options = readOptions({ engines: 'pglite,postgres', documents: '10000,100000', rounds: '30', pictures: '' });
const WARM_UP = 3;
const WORDS = 4_000;

printMachine();
for (const count of listOf(options.documents).map(Number)) {
  const file = await documentsFile(count, options.pictures);
  for (const engine of listOf(options.engines)) await measure(engine, count, file);
}

async function measure(engine, count, file) {
  const place = await createPlace(engine);
  let akin = await startAkin(place.args);
  await sendDocuments(akin.collectionUrl, file);
  await publish(akin.collectionUrl);
  await akin.stop();
  const bare = await place.openBare();
  akin = await startAkin(place.args);
  const searches = await prepareSearches(bare, akin.collectionUrl, count);
  const times = searches.map(() => ({ http: [], page: [], count: [] }));
  const dice = createDice(7);
  for (let round = -WARM_UP; round < Number(options.rounds); round++) {
    for (const [i, search] of searches.entries()) {
      const query = await search(dice);
      const http = await timed(() => sendJson(query.url));
      const page = await timed(() => bare.query(query.page, query.params));
      const count = await timed(() => bare.query(query.count, []));
      if (round < 0) continue;
      times[i]?.http.push(http);
      times[i]?.page.push(page);
      times[i]?.count.push(count);
    }
  }
  printTable(`${engine}, ${count} documents, milliseconds`, [
    ['search', 'akin p50 / p95', 'bare page', 'bare count', 'akin / page', 'akin / (page + count)'],
    ...searches.map(({ title }, i) => {
      const { http, page, count } = times[i];
      const both = page.map((milliseconds, round) => milliseconds + count[round]);
      const beside = [page, both].map((bare) => spread(ratios(http, bare), 2));
      return [title, ...[http, page, count].map((values) => quantiles(values)), ...beside];
    }),
  ]);
  await bare.close();
  await akin.stop();
  await place.close();
}

/** Each makes a search: its address, and statements that find the same, knowing nothing of commits. */
async function prepareSearches(bare, collectionUrl, count) {
  const [{ schema }] = await bare.query('select sql_schema as schema from akin.collections where name = $1', [
    COLLECTION,
  ]);
  const fields = await bare.query(`select name, "column" from ${schema}.fields`);
  const column = (name) => `d.${fields.find((field) => field.name === name).column}`;
  const documents = `${schema}.documents d`;
  const ranked = `${documents} join ${schema}.descriptors_content v using (doc)`;

  const byRank = (title, filter, condition) =>
    Object.assign(
      async (dice) => {
        const id = idOf(dice.whole(count));
        const [{ vector }] = await bare.query(`select v.vector::text as vector from ${ranked} where d.id = $1`, [id]);
        return {
          url: address('image', { 'rank.by.id': id, fq: filter, rows: '10' }),
          page: `select d.id, v.vector <-> $1::halfvec as distance from ${ranked} where ${condition} order by 2, 1 limit 10`,
          count: `select count(*) from ${ranked} where ${condition}`,
          params: [vector],
        };
      },
      { title },
    );
  const plain = (title, parameters, condition) =>
    Object.assign(
      async (dice) => {
        const drawn = dice.whole(WORDS) + 10;
        return {
          url: address('select', { ...parameters(drawn), rows: '10' }),
          page: `select d.id from ${documents} where ${condition(drawn)} order by d.id limit 10`,
          count: `select count(*) from ${documents} where ${condition(drawn)}`,
          params: [],
        };
      },
      { title },
    );
  const address = (endpoint, parameters) => {
    const given = Object.entries(parameters).filter(([, value]) => value !== '');
    return `${collectionUrl}/${endpoint}?${new URLSearchParams(given)}`;
  };

  const tenth = { filter: 'category:"category 3"', sql: `${column('category')} = 'category 3'` };
  const hundredth = { filter: 'shelf:7', sql: `${column('shelf')} = 7` };
  return [
    byRank('ranked by content, all', '', 'true'),
    byRank('ranked, filter of 10 %', tenth.filter, tenth.sql),
    byRank('ranked, filter of 1 %', hundredth.filter, hundredth.sql),
    plain(
      'filter of 1 % alone',
      () => ({ fq: hundredth.filter }),
      () => hundredth.sql,
    ),
    plain(
      'one word in text',
      (drawn) => ({ q: wordAt(drawn) }),
      (drawn) => `d.words @@ '${wordAt(drawn)}'::tsquery`,
    ),
  ];
}
