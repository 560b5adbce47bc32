// Measures searches of a fleet while documents with outputs come in: `node bench/fleet/pacing.mjs --documents 100000`.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { collectionUrl } from '../lib/akin.mjs';
import { documentsFile, idOf } from '../lib/documents.mjs';
import { printTable, quantile, quantiles } from '../lib/figures.mjs';
import { startFleet } from '../lib/fleet.mjs';
import { publish, send } from '../lib/http.mjs';
import { printMachine } from '../lib/machine.mjs';
import { readOptions } from '../lib/options.mjs';
import { createPhases } from '../lib/phases.mjs';
import { createDice } from '../lib/random.mjs';

const options = readOptions({
  documents: '100000',
  changed: '10000',
  seconds: '20',
  pictures: '',
  'database-url': '',
});
/** Pause between a search and the next one. */
const PAUSE_MILLISECONDS = 20;
const WINDOWS_AFTER = 2;

printMachine();
const count = Number(options.documents);
const file = await documentsFile(count, options.pictures);
let loaded = false;
for (const isThrottled of [true, false]) await measure(isThrottled);

async function measure(isThrottled) {
  const fleet = await startFleet({
    analyzers: 1,
    databaseUrl: options['database-url'] || undefined,
    env: isThrottled ? {} : { AKIN_NO_THROTTLE: '1' },
  });
  const collection = collectionUrl(fleet.url, 'my-collection');
  if (!loaded || options['database-url'] === '') {
    const { response } = JSON.parse(await send(`${collection}/select?rows=0`));
    if (response.numFound < count) {
      await sendParts(collection, count);
      await publish(collection);
    }
    loaded = true;
  }
  const dice = createDice(5);
  const measured = createPhases((i) => {
    const filter = ['', `&fq=shelf:${dice.whole(100)}`, `&fq=category:"category ${dice.whole(10)}"`][i % 3];
    return send(`${collection}/image?rank.by.id=${idOf(dice.whole(count))}${encodeURI(filter)}&fl=id,score&rows=10`);
  }, PAUSE_MILLISECONDS);
  const { phases } = measured;
  const seconds = Number(options.seconds);
  const changed = Number(options.changed);
  await measured.during('warming up', () => delay(15_000));
  phases.pop();
  await measured.during('idle', () => delay(seconds * 1000));
  await measured.during('while they are accepted', () => sendParts(collection, changed));
  await measured.during('while the commit applies them', () => publish(collection));
  await measured.after(WINDOWS_AFTER, seconds);
  const idle = quantile(phases[0].times, 0.95);
  printTable(`${count} documents, ${changed} of them replaced, ${isThrottled ? 'throttled' : '--no-throttle'}`, [
    ['searches', 'seconds', 'how many', 'p50 / p95 / max ms', 'p95 / idle'],
    ...phases.map(({ title, times, seconds: took }) => [
      title,
      took.toFixed(1),
      String(times.length),
      quantiles(times, [0.5, 0.95, 1]),
      (quantile(times, 0.95) / idle).toFixed(2),
    ]),
  ]);
  await fleet.stop();
}

/** Sends the first documents of the file in requests of a thousand, as a pipeline does. */
async function sendParts(collection, most) {
  let batch = [];
  let sent = 0;
  const flush = async () => {
    if (batch.length === 0) return;
    await send(`${collection}/update`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `[${batch.join(',')}]`,
    });
    batch = [];
  };
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const text = line.replace(/^\[/, '').replace(/[\],]$/, '');
    if (text.trim() === '') continue;
    // The thumbnails of the file are padding, not pictures.
    batch.push(text.replace(/,"thumbnail":"[^"]*"/, ''));
    if (++sent >= most) break;
    if (batch.length === 1_000) await flush();
  }
  await flush();
}
