// Computes from costs.json how many servers a fleet needs. Also prints how well the costs predict larger collections
// that were measured: `npm run plan -- --documents 100000000 --changes 100 --searches 50` in bench/.

import { readCosts } from '../lib/costs.mjs';
import { tableText } from '../lib/figures.mjs';
import { listOf, readOptions } from '../lib/options.mjs';
import { plan, predict } from './plan.mjs';

const options = readOptions({
  /** Numbers of documents, separated by commas. The table has a column for each. */
  documents: '1000000,10000000,100000000',
  /** Documents with outputs that are added or changed: per second at the peak, and per day. */
  changes: '100',
  'changes-a-day': '1000000',
  /** Ranked searches per second at the peak. */
  searches: '50',
  /** How many modules are searched. */
  modules: '1',
  'gateway-cores': '8',
  'postgres-cores': '16',
});
const costs = await readCosts();
const sizes = listOf(options.documents).map(Number);
const number = (name) => {
  const value = Number(options[name]);
  if (!Number.isFinite(value) || value < 0) throw new Error(`--${name} must be a number, 0 or more.`);
  return value;
};
if (sizes.length === 0 || sizes.some((size) => !(size > 0))) throw new Error('--documents must be numbers above 0.');
const plans = sizes.map((documents) =>
  plan(costs, {
    documents,
    changes: number('changes'),
    changesPerDay: number('changes-a-day'),
    searches: number('searches'),
    modules: number('modules'),
    gatewayCores: Math.max(1, number('gateway-cores')),
    postgresCores: Math.max(1, number('postgres-cores')),
  }),
);
const gigabytes = (bytes) => `${short(bytes / 1e9)} GB`;
const row = (title, text) => [title, ...plans.map(text)];
console.log(
  tableText([
    ['documents', ...sizes.map((documents) => documents.toLocaleString('en'))],
    row('shards', ({ shards }) => String(shards)),
    row('gateways', ({ gateways }) => String(gateways)),
    row('searches/s of one gateway', ({ searchesOfGateway }) => short(searchesOfGateway)),
    row('a ranked search alone, ms', ({ searchMs }) => short(searchMs)),
    row('memory of a gateway', ({ gatewayBytes }) => gigabytes(gatewayBytes)),
    row('indexers', ({ indexers }) => String(indexers)),
    row('first load with outputs, hours', ({ loadHours }) => short(loadHours)),
    row(
      'cores of PostgreSQL for changes; searches',
      (one) => `${short(one.postgresCoresForChanges)}; ${short(one.postgresCoresForSearches)}`,
    ),
    row('memory of PostgreSQL for descriptors', ({ descriptorBytes }) => gigabytes(descriptorBytes)),
    row('disk of PostgreSQL', ({ diskBytes }) => gigabytes(diskBytes)),
    row('log of PostgreSQL a day', ({ logBytesPerDay }) => gigabytes(logBytesPerDay)),
  ]),
);
const predictions = predict(costs.codes);
console.log('\nPredicted from what was measured with fewer documents; measured:\n');
console.log(
  tableText([
    ['documents', 'bytes a document', 'CPU ms of a scan', 'ms of a scan'],
    ...predictions.map(({ measured, predicted }) => [
      measured.documents.toLocaleString('en'),
      ...['bytes', 'cpuMs', 'ms'].map((name) => `${short(predicted[name])}; ${short(measured[name])}`),
    ]),
  ]),
);

/** Formats a number with two digits, without an exponent. */
function short(value) {
  return Number(value.toPrecision(2)).toLocaleString('en', { maximumFractionDigits: 3 });
}
