// Measures one large update into a running akin that answers other requests at the same time: `node bench/bulk.mjs`.
import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { collectionUrl, startAkin } from './lib/akin.mjs';
import { documentsFile, idOf } from './lib/documents.mjs';
import { createDatabase } from './lib/engines.mjs';
import { printTable, quantiles } from './lib/figures.mjs';
import { publish, send, sendDocuments, sendJson } from './lib/http.mjs';
import { megabytes, printMachine, watchMemory } from './lib/machine.mjs';
import { listOf, readOptions } from './lib/options.mjs';
import { startProbes } from './lib/probes.mjs';
import { createDice } from './lib/random.mjs';

const options = readOptions({
  engines: 'pglite,postgres',
  documents: '100000',
  /** Number of documents in the collection that other clients search at the same time. */
  searched: '10000',
  pictures: '',
  'node-flags': '',
});
const PHASE_MILLISECONDS = 5_000;

printMachine();
const count = Number(options.documents);
const searched = Number(options.searched);
const file = await documentsFile(count, options.pictures);
const searchedFile = await documentsFile(searched, options.pictures);
for (const engine of listOf(options.engines)) await measure(engine);

async function measure(engine) {
  const database = await createDatabase(engine);
  // Another process loads the documents, so that the measured process starts without history.
  let akin = await startAkin(database.args);
  await sendDocuments(akin.collectionUrl, searchedFile);
  await publish(akin.collectionUrl);
  await akin.stop();

  akin = await startAkin(database.args, listOf(options['node-flags']));
  const filled = collectionUrl(akin.url, 'filled');
  await sendJson(filled, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{}' });
  const phases = [];
  const phase = async (name, work) => {
    const stopMemory = watchMemory(akin.pid);
    const stopProbes = startProbes(probes(akin));
    const from = performance.now();
    await work();
    phases.push({ name, seconds: (performance.now() - from) / 1000, times: await stopProbes(), bytes: stopMemory() });
  };
  const stopWarmUp = startProbes(probes(akin));
  await delay(PHASE_MILLISECONDS);
  await stopWarmUp();
  await phase('at rest', () => delay(PHASE_MILLISECONDS));
  await phase('accepting', () => sendDocuments(filled, file));
  await phase('applying', () => publish(filled));
  await phase('after', () => delay(PHASE_MILLISECONDS));
  await report(engine, phases);
  await akin.stop();
  await database.close();
}

/** Requests of other clients, to a collection that is not being filled. */
function probes({ url, collectionUrl }) {
  const dice = createDice(3);
  const id = () => idOf(dice.whole(searched));
  return {
    ping: () => send(`${collectionUrl}/admin/ping`),
    'document by id': () => send(`${collectionUrl}/select?${new URLSearchParams({ q: `id:${id()}` })}`),
    'filter of 1 %': () => send(`${collectionUrl}/select?fq=shelf:${dice.whole(100)}`),
    thumbnail: () => send(`${collectionUrl}/thumbnail?id=${id()}`),
    'ranked, filter of 1 %': () => send(`${collectionUrl}/image?rank.by.id=${id()}&fq=shelf:${dice.whole(100)}`),
    'ranked, all': () => send(`${collectionUrl}/image?rank.by.id=${id()}`),
    'status of all': () => send(`${url}/api/cores`),
  };
}

async function report(engine, phases) {
  const { size } = await stat(file);
  const [rest, accepting, applying] = phases;
  const restBytes = Math.max(...rest.bytes);
  printTable(`${engine}: ${count} documents in one request of ${megabytes(size)}`, [
    ['phase', 'seconds', 'documents/s', 'peak memory', 'above rest'],
    ...phases.map(({ name, seconds, bytes }) => {
      const peak = Math.max(...bytes);
      const rate = ['accepting', 'applying'].includes(name) ? (count / seconds).toFixed(0) : '';
      return [name, seconds.toFixed(1), rate, megabytes(peak), megabytes(peak - restBytes)];
    }),
  ]);
  console.log(`until visible: ${(count / (accepting.seconds + applying.seconds)).toFixed(0)} documents/s`);
  printTable('other requests meanwhile, milliseconds: p50 / p99 / max (how many)', [
    ['request', ...phases.map(({ name }) => name)],
    ...['all', ...Object.keys(rest.times)].map((kind) => [
      kind,
      ...phases.map(({ times }) => {
        const values = kind === 'all' ? Object.values(times).flat() : times[kind];
        return `${quantiles(values, [0.5, 0.99, 1], 0)} (${values.length})`;
      }),
    ]),
  ]);
}
