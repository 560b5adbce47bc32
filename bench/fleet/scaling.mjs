// Measures how many analyses per second a fleet does with one and with two analyzers, on the machine of its servers:
// `node bench/fleet/scaling.mjs`.
import { setTimeout as delay } from 'node:timers/promises';
import { printTable } from '../lib/figures.mjs';
import { cpuSecondsOfAll, figureOf, sendPictures, servePictures, startFleet } from '../lib/fleet.mjs';
import { printMachine } from '../lib/machine.mjs';
import { readOptions } from '../lib/options.mjs';

const options = readOptions({ seconds: '40', redis: 'yes' });
const WARM_UP = 100;

printMachine();
const pictures = await servePictures({ width: 400, height: 300 });
const one = await measure(1);
const two = await measure(2);
printTable(`Analyses on ${options.redis === 'yes' ? 'Redis' : 'PostgreSQL'}, 400 x 300 JPEGs, one thread each`, [
  ['analyzers', 'images/s', 'CPU seconds per image, analyzers', '… of gateway and indexer', '… of all', 'cores busy'],
  ...[one, two].map(({ analyzers, rate, cpu, others, all }) => [
    String(analyzers),
    rate.toFixed(1),
    ...[cpu, others, all].map((seconds) => seconds.toFixed(4)),
    (rate * all).toFixed(2),
  ]),
  [
    'two / one',
    (two.rate / one.rate).toFixed(2),
    (two.cpu / one.cpu).toFixed(3),
    (two.others / one.others).toFixed(2),
    (two.all / one.all).toFixed(2),
    ((two.rate * two.all) / (one.rate * one.all)).toFixed(2),
  ],
]);
await pictures.close();

async function measure(analyzers) {
  const fleet = await startFleet({ analyzers, redis: options.redis === 'yes' });
  try {
    await sendPictures(fleet.collectionUrl, pictures, 20_000);
    const count = async () => {
      const counts = await Promise.all(fleet.analyzers.map((each) => figureOf(each, 'akin_analyses_total')));
      return counts.reduce((sum, value) => sum + value, 0);
    };
    while ((await count()) < WARM_UP) await delay(100);
    const cpuOf = (processes) => processes.reduce((sum, each) => sum + each.cpuSeconds(), 0);
    const others = [fleet.gateway, fleet.indexer];
    const before = {
      images: await count(),
      cpu: cpuOf(fleet.analyzers),
      others: cpuOf(others),
      all: cpuSecondsOfAll(),
      at: performance.now(),
    };
    await delay(Number(options.seconds) * 1000);
    const images = (await count()) - before.images;
    return {
      analyzers,
      rate: images / ((performance.now() - before.at) / 1000),
      cpu: (cpuOf(fleet.analyzers) - before.cpu) / images,
      others: (cpuOf(others) - before.others) / images,
      // This includes PostgreSQL, Redis, the server of the pictures and this measurement.
      all: (cpuSecondsOfAll() - before.all) / images,
    };
  } finally {
    await fleet.stop();
  }
}
