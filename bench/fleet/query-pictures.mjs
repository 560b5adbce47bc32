// Measures how long the picture of a query takes while a hundred thousand others wait:
// `node bench/fleet/query-pictures.mjs`.
import { setTimeout as delay } from 'node:timers/promises';
import { printTable, quantile, quantiles } from '../lib/figures.mjs';
import { figureOf, sendPictures, servePictures, startFleet } from '../lib/fleet.mjs';
import { printMachine } from '../lib/machine.mjs';
import { readOptions } from '../lib/options.mjs';

const options = readOptions({ waiting: '100000', queries: '300', threads: '1', analyzers: '1', bulk: '400x300' });
const PAUSE_MILLISECONDS = 30;

printMachine();
const [width, height] = options.bulk.split('x').map(Number);
const bulk = await servePictures({ width, height });
const queries = await servePictures({ width: 400, height: 300 });
const fleet = await startFleet({ analyzers: Number(options.analyzers), threads: Number(options.threads) });
try {
  await ask(50);
  const idle = await ask(Number(options.queries));
  await sendPictures(fleet.collectionUrl, bulk, Number(options.waiting));
  while ((await analyses()) < 50) await delay(200);
  const before = await analyses();
  const from = performance.now();
  const busy = await ask(Number(options.queries));
  const rate = (((await analyses()) - before) / (performance.now() - from)) * 1000;
  printTable(`Pictures of queries, ${options.analyzers} analyzers of ${options.threads} threads`, [
    ['while', 'p50 / p95 / max ms', 'p95 / idle'],
    ['nothing else waits', quantiles(idle, [0.5, 0.95, 1]), '1.00'],
    [
      `${options.waiting} of ${options.bulk} wait, ${rate.toFixed(0)}/s`,
      quantiles(busy, [0.5, 0.95, 1]),
      (quantile(busy, 0.95) / quantile(idle, 0.95)).toFixed(2),
    ],
  ]);
} finally {
  await fleet.stop();
  await bulk.close();
  await queries.close();
}

async function analyses() {
  const counts = await Promise.all(fleet.analyzers.map((one) => figureOf(one, 'akin_analyses_total')));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Returns the milliseconds of some requests, which it sends one after the other with a short pause between them. */
async function ask(count) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const body = new URLSearchParams({
      'input.data': queries.pictures[i % queries.pictures.length].toString('base64'),
    });
    const asked = performance.now();
    const response = await fetch(`${fleet.collectionUrl}/analyze`, { method: 'POST', body });
    await response.text();
    times.push(performance.now() - asked);
    if (!response.ok) throw new Error(`analyze answered ${response.status}`);
    await delay(PAUSE_MILLISECONDS);
  }
  return times;
}
