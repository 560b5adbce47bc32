// Measures the memory of `akin serve` at rest and while it indexes a folder of pictures: `node bench/memory.mjs`.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { drawImage } from '@akin/testing';
import { startAkin } from './lib/akin.mjs';
import { documentsFile } from './lib/documents.mjs';
import { createDatabase } from './lib/engines.mjs';
import { median, printTable } from './lib/figures.mjs';
import { publish, sendDocuments, sendJson } from './lib/http.mjs';
import { megabytes, printMachine, watchMemory } from './lib/machine.mjs';
import { readOptions } from './lib/options.mjs';

const options = readOptions({ documents: '10000', images: '1000', pictures: '' });
const WATCH_MILLISECONDS = 5_000;

printMachine();
const rows = [['state', 'median', 'peak', 'pictures/s']];
const row = (state, bytes, rate = '') =>
  rows.push([state, megabytes(median(bytes)), megabytes(Math.max(...bytes)), rate]);

const database = await createDatabase('pglite');
let akin = await startAkin(database.args);
row('empty, first start', await watch(akin));
await akin.stop();
akin = await startAkin(database.args);
row('empty, at rest', await watch(akin));
await sendDocuments(akin.collectionUrl, await documentsFile(Number(options.documents), ''));
await publish(akin.collectionUrl);
await akin.stop();
akin = await startAkin(database.args);
await sendJson(`${akin.collectionUrl}/image?rank.by.id=document-0000001`);
row(`${options.documents} documents, at rest`, await watch(akin));
await akin.stop();

const folder = options.pictures === '' ? await drawFolder() : options.pictures;
const index = await createDatabase('pglite');
akin = await startAkin([...index.args, folder]);
const stop = watchMemory(akin.pid);
const from = performance.now();
// All pictures of a folder are visible when the number of documents has not changed for a while.
let documents = 0;
let seconds = 0;
for (let still = 0; still < 100 || documents === 0; still++) {
  await delay(200);
  const status = await sendJson(akin.collectionUrl);
  const { documents: now, pending } = status;
  if (now !== documents || pending > 0) {
    still = 0;
    seconds = (performance.now() - from) / 1000;
  }
  documents = now;
}
row(`indexing ${documents} pictures`, stop(), (documents / seconds).toFixed(1));
row('after it', await watch(akin));
await akin.stop();
printTable('Memory of the process (RSS)', rows);
await index.close();
await database.close();
if (options.pictures === '') await rm(folder, { recursive: true });

async function watch({ pid }) {
  const stop = watchMemory(pid);
  await delay(WATCH_MILLISECONDS);
  return stop();
}

async function drawFolder() {
  const drawn = join(await mkdtemp(join(tmpdir(), 'akin-bench-')), 'pictures');
  await mkdir(drawn);
  for (let i = 0; i < Number(options.images); i++) {
    await writeFile(join(drawn, `${i}.jpg`), await drawImage({ width: 1200, height: 900, seed: i + 1 }));
  }
  return drawn;
}
