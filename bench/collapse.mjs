// Measures searches that show one document for each value of a field, and the same searches without that:
// `npm run collapse -- --documents 100000 --products 10000`.
import { encodeDescriptor } from '@akin/modules/vectors';
import { COLLECTION, startAkin } from './lib/akin.mjs';
import { clusteredVectors } from './lib/clustered.mjs';
import { createDatabase } from './lib/engines.mjs';
import { quantile, tableText } from './lib/figures.mjs';
import { describeMachine } from './lib/machine.mjs';
import { readOptions } from './lib/options.mjs';

const options = readOptions({ documents: '100000', products: '10000', engine: 'postgres', queries: '40' });
const [documents, products, queries] = [options.documents, options.products, options.queries].map(Number);
const PART = 2_000;
/** The first searches of each kind read data into memory, and are not timed. */
const WARM_UP = 5;
const CASES = [
  ['nearest', 'image', 'rows=10&fl=id,score'],
  ['nearest, a page of 100', 'image', 'rows=100&fl=id,score'],
  ['nearest, filter of a tenth', 'image', 'rows=10&fl=id,score&fq=tenth:3'],
  ['nearest, filter of nine tenths', 'image', 'rows=10&fl=id,score&fq=-tenth:3'],
  ['nearest, whole documents', 'image', 'rows=10'],
  ['by price', 'select', 'rows=10&fl=id&sort=price+asc'],
  ['by price, filter of a tenth', 'select', 'rows=10&fl=id&sort=price+asc&fq=tenth:3'],
  ['by tenth, of which many are equal', 'select', 'rows=10&fl=id&sort=tenth+desc'],
  ['by price, with a cursor', 'select', 'rows=10&fl=id&sort=price+asc,id+asc&cursorMark=*'],
  ['everything', 'select', 'rows=10&fl=id'],
];
const WAYS = [
  ['alone', ''],
  ['collapsed', 'fq={!collapse field=product}'],
  ['the cheapest', 'fq={!collapse field=product min=price}'],
  ['expanded', 'fq={!collapse field=product}&expand=true'],
  ['grouped', 'group=true&group.field=product'],
];

console.log(describeMachine());
const database = await createDatabase(options.engine);
const akin = await startAkin(database.args);
try {
  await fill();
  const times = new Map();
  for (let i = 0; i < WARM_UP + queries; i++) {
    for (const [title, path, query] of CASES) {
      for (const [way, more] of WAYS) {
        if (!isPossible(title, way)) continue;
        const id = `d${(i * 7_919) % documents}`;
        const from = performance.now();
        const by = path === 'image' ? `rank.by.id=${id}&` : '';
        const response = await fetch(encodeURI(`${akin.collectionUrl}/${path}?${by}${query}&${more}`));
        const { error } = await response.json();
        if (error) throw new Error(error.msg);
        const key = `${title} ${way}`;
        if (i >= WARM_UP) times.set(key, [...(times.get(key) ?? []), performance.now() - from]);
      }
    }
  }
  const median = (title, way) => quantile(times.get(`${title} ${way}`), 0.5);
  const rows = CASES.map(([title]) => [
    title,
    median(title, 'alone').toFixed(1),
    ...WAYS.slice(1).map(([way]) => {
      if (!isPossible(title, way)) return '';
      const time = median(title, way);
      return `${time.toFixed(1)} (${(time / median(title, 'alone')).toFixed(2)})`;
    }),
  ]);
  const head = ['search', 'alone, median ms', ...WAYS.slice(1).map(([way]) => `${way} (ratio)`)];
  console.log(tableText([head, ...rows]));
  console.log(describeMachine());
} finally {
  await akin.stop();
  await database.close();
}

/** Pages of groups have no cursor. */
function isPossible(title, way) {
  return way !== 'grouped' || !title.includes('cursor');
}

async function fill() {
  const { around, dice } = clusteredVectors({ dimensions: 256, centers: products, seed: 5 });
  for (let first = 0; first < documents; first += PART) {
    const lines = Array.from({ length: Math.min(PART, documents - first) }, (_, i) => {
      const product = (first + i) % products;
      const outputs = { content_descriptor: encodeDescriptor(around(product), 'content') };
      const fields = { product: `product ${product}`, tenth: dice.whole(10), price: dice.whole(100_000) / 100 };
      return JSON.stringify({
        id: `d${first + i}`,
        ...fields,
        title: `A product ${product}`,
        import: JSON.stringify(outputs),
      });
    });
    await update('async=true', `${lines.join('\n')}\n`);
  }
  await update('commit=true', '');
  console.log(`${documents} documents of ${products} products in ${COLLECTION}`);
}

async function update(parameters, body) {
  const type = { 'content-type': 'application/x-ndjson' };
  for (;;) {
    const response = await fetch(`${akin.collectionUrl}/update?${parameters}`, { method: 'POST', headers: type, body });
    if (response.ok) return;
    if (response.status !== 429) throw new Error(await response.text());
    await new Promise((resolve) => setTimeout(resolve, 1_000 * Number(response.headers.get('retry-after') ?? 1)));
  }
}
