// Compares searches of a large collection with pgvector's graph, a graph in memory, and the truth:
// `node bench/search/main.mjs`.
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startAkin } from '../lib/akin.mjs';
import { openEngine } from '../lib/engines.mjs';
import { describeMachine } from '../lib/machine.mjs';
import { listOf, readOptions } from '../lib/options.mjs';
import { CACHE } from '../lib/seeds.mjs';
import { openBare } from './bare.mjs';
import { prepareQueries } from './cases.mjs';
import { measureClients } from './clients.mjs';
import { openModel, readFacts } from './collection.mjs';
import { measureDisturbance } from './disturbance.mjs';
import { measureFacets } from './facets.mjs';
import { makeGraph, openGraph } from './graph.mjs';
import { compareWithReal } from './likeness.mjs';
import { load } from './load.mjs';
import { measureOthers } from './others.mjs';
import { akinSide, bareSide, countSide, GRAPH_WAYS, measureRanked } from './ranked.mjs';
import { writeReport } from './report.mjs';

const options = readOptions({
  documents: '100000',
  /** Folder of pictures around which documents are made up. Default: drawn pictures. */
  pictures: '',
  /** Maximum number of these pictures. */
  seeds: '6000',
  /** URL of a PostgreSQL with pgvector, in which the loaded collection remains. Default: PGlite in the folder. */
  'database-url': '',
  /** Folder that keeps documents, the data of PGlite and the graph in memory for later runs. */
  folder: '',
  /** The measurements to make: any of likeness, ranked, others, clients, facets, disturbance. */
  measures: 'likeness,ranked,others,clients,facets,disturbance',
  /** The methods that akin is compared with in `ranked`: sql, memory, or both. `sql` needs a database URL. */
  compare: 'sql,memory',
  queries: '60',
  rounds: '20',
  /** Number of documents in the commit that disturbs searches. */
  changed: '10000',
  /** Length of each measurement of searches, in seconds. */
  window: '15',
  /** Number of candidates of a search in the graphs: pgvector's hnsw.ef_search, usearch's expansion. */
  ef: '100',
  /** Path of the files with the figures, without `.json` and `.md`. Default: no files. */
  out: '',
});
const documents = Number(options.documents);
const databaseUrl = options['database-url'];
const folder = resolve(options.folder || join(CACHE, `search-${documents}`));
const parts = join(folder, 'documents');
const graphFile = join(folder, `content-${documents}.usearch`);
const measures = listOf(options.measures);
const compared = listOf(options.compare).filter((name) => name !== 'sql' || databaseUrl !== '');

await mkdir(folder, { recursive: true });
const model = await openModel({ pictures: options.pictures, seeds: Number(options.seeds) });
const args = ['--data', join(folder, 'akin'), ...(databaseUrl ? ['--database-url', databaseUrl] : [])];
let akin = await startAkin(args);
const report = { machine: describeMachine(), engine: databaseUrl ? 'PostgreSQL' : 'PGlite', documents, ef: options.ef };
report.load = await load(akin.collectionUrl, parts, documents, model);
if (measures.includes('likeness')) report.likeness = await compareWithReal(model, parts, documents);
if (measures.includes('ranked')) report.ranked = await rank();
if (measures.includes('others')) {
  report.others = await measureOthers(akin, documents, Number(options.rounds));
}
if (measures.includes('clients') && databaseUrl) {
  await makeGraph(graphFile, await readFacts(parts, documents));
  report.clients = await measureClients(prepareQueries(model, Number(options.queries)), {
    collectionUrl: akin.collectionUrl,
    databaseUrl,
    graph: graphFile,
    ef: Number(options.ef),
    rounds: Math.min(4, Number(options.rounds)),
    seconds: Number(options.window) / 2,
  });
}
if (measures.includes('facets')) {
  // Only one process can open a PGlite folder. The bare database is therefore a copy, made while akin is stopped.
  if (!databaseUrl) await akin.stop();
  const bare = await openEngine({ folder: join(folder, 'akin'), databaseUrl: databaseUrl || undefined });
  if (!databaseUrl) akin = await startAkin(args);
  report.facets = await measureFacets(bare, akin.collectionUrl, Number(options.rounds));
  await bare.close();
}
if (measures.includes('disturbance')) {
  const changed = Math.min(documents, Number(options.changed));
  report.disturbance = await measureDisturbance(akin.collectionUrl, parts, {
    documents,
    changed,
    seconds: Number(options.window),
  });
}
report.machineAfter = describeMachine();
await akin.stop();
const markdown = writeReport(report);
console.log(markdown);
if (options.out) {
  await writeFile(`${options.out}.json`, JSON.stringify(report, null, 1));
  await writeFile(`${options.out}.md`, markdown);
}

async function rank() {
  const facts = await readFacts(parts, documents);
  const queries = prepareQueries(model, Number(options.queries));
  const ef = Number(options.ef);
  const sides = [akinSide(akin.collectionUrl)];
  const closing = [];
  if (compared.includes('sql')) {
    const bare = await openBare(databaseUrl, facts);
    const unfiltered = ['no filter'];
    const { plain, iterative, unlimited } = GRAPH_WAYS;
    for (const [title, settings, cases] of [
      [`graph in SQL, ef ${ef}`, plain(ef)],
      ['… strict', iterative(ef, 'strict_order')],
      ['… relaxed', iterative(ef, 'relaxed_order')],
      ['… relaxed, unlimited', unlimited(ef, 'relaxed_order', documents)],
      ...[40, 200, 400, 800].map((more) => [`graph in SQL, ef ${more}`, plain(more), unfiltered]),
    ]) {
      const side = await bareSide(bare, title, settings, cases);
      sides.push(side);
      closing.push(side.close);
    }
  }
  if (compared.includes('memory')) {
    await makeGraph(graphFile, facts);
    const graph = openGraph(graphFile, facts, ef);
    sides.push({
      title: 'graph in memory, filter after',
      search: ({ vector }, filter, share) => ({ found: graph.search(vector, filter, share) }),
    });
  }
  sides.push(akinSide(akin.collectionUrl, true));
  if (databaseUrl) {
    const side = await countSide(databaseUrl);
    sides.push(side);
    closing.push(side.close);
  }
  const results = await measureRanked(sides, queries, facts);
  for (const close of closing) await close();
  return results;
}
