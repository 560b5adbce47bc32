import { createRandom } from '@akin/domain/random';
import { describe, expect, it } from '@jest/globals';
import { SearchedCollection } from './collection.ts';
import { mergeHeads, pageOfHeads } from './heads.ts';
import { type Distinct, type HeadsPage, type HeadsQuery, LAST_PLACE, type PartHeads } from './query.ts';

const COUNT = 900;
const PARTS = 3;
const [PRODUCT, PRICE, ID] = [1, 2, 3];
const random = createRandom(7);
const below = (most: number) => Math.floor(random() * most);
/** 0: no value. Ordinals are not in the order of the values. */
const rows = Array.from({ length: COUNT }, (_, doc) => ({
  doc,
  product: below(60),
  price: below(20),
  id: ((doc * 7) % COUNT) + 1,
}));
/** The place of price `n` is that of its last digit first; ids are in falling order. */
const prices = Uint32Array.of(0, ...Array.from({ length: 20 }, (_, n) => (n * 7) % 20));
const ids = Uint32Array.from({ length: COUNT + 1 }, (_, ordinal) => COUNT - ordinal);

const parts = Array.from({ length: PARTS }, () => new SearchedCollection(COUNT));
for (const { doc, product, price, id } of rows) {
  const part = parts[doc % PARTS] as SearchedCollection;
  part.addRow(doc, 1);
  if (doc % 4 > 0) part.setVector('view', doc, Float32Array.of(1, 0));
  for (const [column, ordinal] of [
    [PRODUCT, product],
    [PRICE, price],
    [ID, id],
  ] as const) {
    if (ordinal > 0) part.setValue(column, doc, ordinal);
  }
}
for (const part of parts) {
  part.extendFilter(
    1,
    Uint32Array.from({ length: COUNT / 2 }, (_, i) => 2 * i),
  );
  part.advance(1);
}

describe('the heads of groups', () => {
  const byPrice = (isDescending: boolean) => ({ column: PRICE, places: prices, isDescending });
  const byId = { column: ID, places: ids, isDescending: false };
  const placeOf = ({ price }: (typeof rows)[number], isDescending: boolean) =>
    price === 0 ? LAST_PLACE : (isDescending ? -1 : 1) * (prices[price] as number);
  const ask = ({ page, ...query }: Omit<HeadsQuery, 'commit'> & { readonly page?: HeadsPage }) => {
    const whole = { ...query, commit: 1 };
    const { matches, ...all } = mergeHeads(
      parts.map((part) => part.heads(whole) as PartHeads),
      whole,
    );
    const docs = page === undefined ? all.docs : pageOfHeads({ matches, ...all }, whole, page);
    return { matches, found: all.docs.length, docs };
  };

  it.each(
    (['leave-out', 'each', 'together'] as const).flatMap((missing) =>
      [false, true].flatMap((isDescending) =>
        [undefined, 'view'].map((module): [Distinct['missing'], boolean, string | undefined] => [
          missing,
          isDescending,
          module,
        ]),
      ),
    ),
  )('are the first of each, without a value: %s, descending: %s, module: %s', (missing, isDescending, module) => {
    const matching = rows.filter(({ doc, product }) => {
      return doc % 2 === 0 && (module === undefined || doc % 4 > 0) && (product > 0 || missing !== 'leave-out');
    });
    const first = new Map<number, (typeof rows)[number]>();
    const compare = (a: (typeof rows)[number], b: (typeof rows)[number]) =>
      placeOf(a, isDescending) - placeOf(b, isDescending) || b.id - a.id;
    for (const row of [...matching].sort(compare)) {
      const group = row.product === 0 && missing === 'each' ? -1 - row.doc : row.product;
      if (!first.has(group)) first.set(group, row);
    }
    const query = { filters: [1], module, distinct: { column: PRODUCT, missing } };
    const order = { keys: [byPrice(isDescending), byId], deciding: 2 };
    const all = ask({ ...query, ...order });
    expect([all.matches, all.found]).toEqual([matching.length, first.size]);
    expect([...all.docs].sort()).toEqual(Array.from(first.values(), ({ doc }) => doc).sort());
    const heads = [...first.values()];
    const byOrder = heads.map(({ doc }) => doc);
    expect([...ask({ ...query, ...order, page: { from: 0, wanted: 15 } }).docs]).toEqual(byOrder.slice(0, 15));
    // Another order than that of the heads, and what is behind the fourth of them.
    const sorted = heads.sort((a, b) => b.id - a.id);
    const place = ids[sorted[3]?.id as number] as number;
    for (const after of [place, place + 0.5]) {
      const page = { from: 2, wanted: 5, after: [after] };
      const found = ask({ ...query, ...order, keys: [...order.keys, byId], page });
      expect([found.found, ...found.docs]).toEqual([first.size, ...sorted.slice(4, 9).map(({ doc }) => doc)]);
    }
  });

  it('are behind a row without a value if they have none either', () => {
    const query = { filters: [], distinct: { column: PRODUCT, missing: 'each' as const } };
    const order = { keys: [byPrice(true), byId], deciding: 2 };
    const after = [LAST_PLACE, -0.5];
    const found = ask({ ...query, ...order, page: { from: 0, wanted: COUNT, after } });
    const all = ask({ ...query, ...order, page: { from: 0, wanted: COUNT } });
    const priced = [...all.docs].filter((doc) => rows[doc]?.price !== 0).length;
    expect([...found.docs]).toEqual([...all.docs].slice(priced));
    expect(found.docs.length).toBeGreaterThan(0);
  });
});
