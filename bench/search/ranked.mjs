import { numberOf } from '../lib/documents.mjs';
import { openEngine } from '../lib/engines.mjs';
import { send } from '../lib/http.mjs';
import { akinTable } from './akin-table.mjs';
import { CASES, conditions } from './cases.mjs';
import { findTruth, judge, ROWS } from './truth.mjs';

/** A method that takes longer than this for one filter alone (milliseconds) is asked fewer queries. */
const PATIENCE = 20_000;
const FEWEST = 5;
/**
 * Number of queries that one side answers before the next has its turn. A side that scans a large table takes the caches
 * of the processor from all others, which on a server of its own it would not: the first queries of a turn fill them
 * again, and are not timed.
 */
const TURN = 13;
const WARM_UP = 3;
/** Searches before the first round: V8 optimizes what is used often, as in a server that has been running for a minute. */
const SEARCHES_BEFORE = 1_000;

/**
 * @typedef {{ found: number[], distances?: number, exact?: boolean }} Found numbers of the documents on a page; how many
 *   distances it took and whether it is known to be right, where that is known
 */

/**
 * Asks every side for the same pages, a few queries each in turns, so that a machine that drifts slows all alike.
 *
 * @param {{ title: string, cases?: string[], prepare?: (query: any, filter: import('./cases.mjs').Filter) => Promise<unknown>, search: (query: any, filter: import('./cases.mjs').Filter, share: number) => Promise<Found> | Found }[]} sides
 *   what `prepare` does is not timed
 * @returns {Promise<{ title: string, cell: Map<string, object> }[]>} by case, by side: times, recalls, short pages
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
          if (result.times.length >= FEWEST && sum(result.times) > PATIENCE) continue;
          await side.prepare?.(query, filters[at]);
          const from = performance.now();
          const outcome = await side.search(query, filters[at], share);
          const time = performance.now() - from;
          if (!isTimed) continue;
          result.times.push(time);
          if (side.isCount) continue;
          const { found, distances, exact } = outcome;
          const { recall, short } = judge(found, truths[at], facts, query.vector, filters[at]);
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
 * akin over HTTP. The outputs of an analysis are sent, as by a client that has analyzed its picture before.
 * @param {boolean} isNew whether each filter is asked for as if for the first time; otherwise it was asked for before
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

/** The bare count of a filter over the table of akin, which ignores commits. */
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

/** pgvector's graph in SQL, the filter in the same statement. */
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

/** The settings of {@link bareSide} for each way in which the graph meets a filter. */
export const GRAPH_WAYS = {
  plain: (ef) => ({ 'hnsw.ef_search': ef, 'hnsw.iterative_scan': 'off' }),
  iterative: (ef, order) => ({ 'hnsw.ef_search': ef, 'hnsw.iterative_scan': order }),
  /** Gives full pages: may look at everything. */
  unlimited: (ef, order, documents) => ({
    'hnsw.ef_search': ef,
    'hnsw.iterative_scan': order,
    'hnsw.max_scan_tuples': documents + 1,
    'hnsw.scan_mem_multiplier': 1000,
  }),
};
