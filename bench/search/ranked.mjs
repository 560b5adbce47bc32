import { numberOf } from '../lib/documents.mjs';
import { openEngine } from '../lib/engines.mjs';
import { send } from '../lib/http.mjs';
import { akinTable } from './akin-table.mjs';
import { CASES, conditions } from './cases.mjs';
import { evaluate, findTruth, ROWS } from './truth.mjs';

/** A side that takes longer than this (milliseconds) for the queries of one filter gets fewer queries. */
const SLOW_QUERY_MILLISECONDS = 20_000;
const FEWEST = 5;
/**
 * Number of queries that one side answers before the next has its turn. A side that scans a large table displaces the
 * data of the others from the processor cache, which would not happen on separate servers. So the first queries of a
 * turn, which fill the cache again, are not timed.
 */
const TURN = 13;
const WARM_UP = 3;
/**
 * Number of searches before the first round. V8 then optimizes the code that runs often, as in a server that has run
 * for a minute.
 */
const SEARCHES_BEFORE = 1_000;

/**
 * @typedef {{ found: number[], distances?: number, exact?: boolean }} Found `found` has the numbers of the documents on
 *   a page. `distances` says how many distances were computed, and `exact` whether the page is known to be right; both
 *   are missing if that is not known
 */

/**
 * Sends the same queries to every side. The sides take turns after a few queries, so that a machine that slows down
 * slows all of them alike.
 *
 * @param {{ title: string, cases?: string[], prepare?: (query: any, filter: import('./cases.mjs').Filter) => Promise<unknown>, search: (query: any, filter: import('./cases.mjs').Filter, share: number) => Promise<Found> | Found }[]} sides
 *   what `prepare` does is not timed
 * @returns {Promise<{ title: string, cell: Map<string, object> }[]>} times, recalls and short pages, by case and by
 *   side
 */
export async function measureRanked(sides, queries, facts) {
  const results = CASES.map(({ title }) => ({
    title,
    matches: [],
    sides: sides.map((side) => ({ title: side.title, times: [], recalls: [], short: 0, distances: [], exact: 0 })),
  }));
  for (const side of sides) {
    for (let i = 0; side.isServer && i < SEARCHES_BEFORE; i++) {
      const query = queries[i % queries.length];
      await side.search(query, CASES[i % CASES.length].filter(query));
    }
  }
  for (let first = 0; first < queries.length; first += TURN) {
    const rounds = queries.slice(first, first + TURN).map((query, i) => {
      const filters = CASES.map(({ filter }) => filter(query));
      return { query, filters, truths: findTruth(facts, query.vector, filters), isTimed: i >= WARM_UP };
    });
    for (const [at, { title, share }] of CASES.entries()) {
      for (const { truths, isTimed } of rounds) if (isTimed) results[at].matches.push(truths[at].matches);
      for (const [i, side] of sides.entries()) {
        if (side.cases && !side.cases.includes(title)) continue;
        for (const { query, filters, truths, isTimed } of rounds) {
          const result = results[at].sides[i];
          if (result.times.length >= FEWEST && sum(result.times) > SLOW_QUERY_MILLISECONDS) continue;
          await side.prepare?.(query, filters[at]);
          const from = performance.now();
          const outcome = await side.search(query, filters[at], share);
          const time = performance.now() - from;
          if (!isTimed) continue;
          result.times.push(time);
          if (side.isCount) continue;
          const { found, distances, exact } = outcome;
          const { recall, short } = evaluate(found, truths[at], facts, query.vector, filters[at]);
          result.recalls.push(recall);
          result.short += short ? 1 : 0;
          if (distances !== undefined) result.distances.push(distances);
          result.exact += exact ? 1 : 0;
        }
      }
    }
  }
  return results;
}

const sum = (values) => values.reduce((a, b) => a + b, 0);

/**
 * The side of akin, over HTTP. It sends the outputs of an analysis, as a client does that has analyzed its picture
 * before.
 * @param {boolean} isNew whether searches bypass the cache of filters, as if each filter were new; otherwise an untimed
 *   search has used the filter before
 */
export function akinSide(collectionUrl, isNew = false) {
  const ask = ({ outputs }, filter) => {
    const body = new URLSearchParams({ 'rank.by.outputs': outputs, fl: 'id,score', rows: String(ROWS) });
    for (const [name, value] of Object.entries(filter)) {
      body.append('fq', `${isNew ? '{!cache=false}' : ''}${name}:(${[value].flat().join(' ')})`);
    }
    return postForm(`${collectionUrl}/image`, body);
  };
  return {
    title: isNew ? '… a new filter' : 'akin over HTTP',
    isServer: !isNew,
    prepare: isNew ? undefined : ask,
    async search(query, filter) {
      const { response, responseHeader } = await ask(query, filter);
      return {
        found: response.docs.map(({ id }) => numberOf(id)),
        distances: responseHeader.distances,
        exact: responseHeader.ranking === 'exact',
      };
    },
  };
}

/** The side that counts the matches of a filter in akin's table, with bare SQL. The count ignores commits. */
export async function countSide(databaseUrl) {
  const bare = await openEngine({ databaseUrl });
  const { table, columnOf } = await akinTable(bare);
  return {
    title: 'bare count in SQL',
    isCount: true,
    async search(_, filter) {
      const where = conditions(filter).map(
        ({ column, excluded, values }) => ` and ${columnOf(column)} ${excluded ? '<> all' : '= any'}('{${values}}')`,
      );
      await bare.query(`select count(*) from ${table} where true${where.join('')}`);
    },
    close: () => bare.close(),
  };
}

async function postForm(url, body) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return JSON.parse((await send(url, { method: 'POST', headers, body: body.toString() })).toString());
}

/** The side that searches pgvector's graph in SQL. The same statement has the filter. */
export async function bareSide(bare, title, settings, cases) {
  const client = await bare.connect(settings);
  return {
    title,
    cases,
    async search({ vector }, filter) {
      const asked = conditions(filter);
      const where =
        asked
          .map(({ column, excluded }, at) => `${column} ${excluded ? '<> all' : '= any'}($${at + 2})`)
          .join(' and ') || 'true';
      const { rows } = await client.query(
        `select n, vector <-> $1 as distance from bench.bare where ${where} order by vector <-> $1 limit ${ROWS}`,
        [`[${vector.join(',')}]`, ...asked.map(({ values }) => values)],
      );
      return { found: rows.map(({ n }) => n) };
    },
    close: () => client.end(),
  };
}

/** The settings of {@link bareSide} for each way in which the graph can apply a filter. */
export const GRAPH_WAYS = {
  plain: (ef) => ({ 'hnsw.ef_search': ef, 'hnsw.iterative_scan': 'off' }),
  iterative: (ef, order) => ({ 'hnsw.ef_search': ef, 'hnsw.iterative_scan': order }),
  /** Fills every page: a scan may visit all documents. */
  unlimited: (ef, order, documents) => ({
    'hnsw.ef_search': ef,
    'hnsw.iterative_scan': order,
    'hnsw.max_scan_tuples': documents + 1,
    'hnsw.scan_mem_multiplier': 1000,
  }),
};
