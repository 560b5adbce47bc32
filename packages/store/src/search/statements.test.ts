import { parseQuery } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { statementsOf } from '../../test/sent-statements.ts';
import { sharedStore } from '../../test/shared-store.ts';
import { accept, testOutputs, visible } from '../../test/support.ts';
import { commit } from '../changes/commit/commit.ts';
import type { Store } from '../changes/context.ts';
import { createCollection } from '../database/collections/collections.ts';
import type { Collection } from '../database/context.ts';
import type { SearchInput } from './request.ts';
import { search } from './search.ts';
import { parseSort } from './sort.ts';

/** What every statement outside a transaction has around it. */
const AROUND =
  /^select s\.\*, r\.\* from \(select .* where id = [0-9]+\) s left join \(.*? from \((.*)\) r\) r on true$/;

/** `__snapshots__` has the statements, for reviewers: `jest -u` writes it again. */
describe('the statements of a search', () => {
  let store: Store;
  let collection: Collection;

  sharedStore('postgres', async (opened) => {
    store = opened;
    collection = await createCollection(store, 'views');
    const documents = Array.from({ length: 30 }, (_, n) => ({
      id: String(n),
      title: `view ${n}`,
      half: n % 2,
      price: n + 0.5,
      taken: '2024-01-31',
      labels: ['old', 'new'],
      location: '48.1,11.5',
      import: testOutputs({ shape: [Math.cos(n), Math.sin(n), 0, 0], names: ['red'] }),
    }));
    await accept(store, collection, documents);
    await commit(store, collection);
    expect((await visible(store, collection)).length).toBe(documents.length);
  });

  const rank = { module: 'shape', vector: Float32Array.from([1, 0, 0, 0]) };
  const byId: SearchInput['rank'] = async (stored) => ({
    module: 'shape',
    firstId: '7',
    vector: (await stored('7', 'shape')) as Float32Array,
  });
  const list = { limit: 10, offset: 0, mincount: 1, sort: 'count', missing: false } as const;
  const facet = { kind: 'field', field: 'half', ...list } as const;
  const collapseBy = { field: 'half', missing: 'leave-out', query: parseQuery('*:*'), parameter: 'fq' } as const;
  const members = { limit: 3, offset: 0, sort: [], withoutHeads: true };

  it.each<[string, string, Partial<SearchInput>]>([
    ['a document by its id', 'id:7', {}],
    ['everything', '*:*', {}],
    ['everything but one document', '*:* -id:7', {}],
    ['a word', 'view', {}],
    ['a phrase', '"view 7"', {}],
    ['a number', 'half:1', {}],
    ['a range of numbers', 'price:[1 TO 3}', {}],
    ['a range of times', 'taken:[2024-01-01T00:00:00Z TO NOW]', {}],
    ['labels of several', 'labels:(old AND new)', {}],
    ['an order by fields', '*:*', { sort: parseSort('half desc, price asc') }],
    ['a page behind a cursor mark', '*:*', { sort: parseSort('id asc'), cursorMark: '*' }],
    ['some fields', '*:*', { fields: ['id', 'shape_descriptor'] }],
    ['the nearest', '*:*', { rank }],
    ['the nearest to a document', '*:*', { rank: byId }],
    ['the nearest under a filter', '*:*', { rank, filters: [parseQuery('half:1')] }],
    ['the second page of the nearest', '*:*', { rank, start: 10 }],
    ['those within a distance', '*:*', { rank: { ...rank, maxDistance: 0.5 } }],
    ['the nearest without near-duplicates', '*:*', { rank, collapse: true }],
    ['the nearest for each value, with a facet', '*:*', { rank, collapseBy, facets: [facet] }],
    ['the first for each value, with its group', '*:*', { collapseBy, members, sort: parseSort('price asc') }],
    ['a count of up to ten', 'half:1', { rows: 0, minExactCount: 10 }],
    ['counts of values', '*:*', { rows: 0, facets: [facet] }],
  ])('for %s', async (_, q, request) => {
    const ask = () =>
      search(store, collection, {
        query: parseQuery(q),
        rows: 10,
        fields: ['id'],
        now: new Date(Date.UTC(2025, 0)),
        ...request,
      });
    // The first time it learns what the collection shows, and reads vectors and filters.
    const first = await ask();
    let again: unknown;
    const sent = await statementsOf(async () => {
      again = await ask();
    });
    expect(again).toEqual(first);
    const shown = sent.map(({ sql }) => {
      const text = sql.replaceAll(collection.sqlSchema, 'S').replaceAll(/\s+/g, ' ').trim();
      return text.replace(AROUND, '$1').trim();
    });
    expect(shown.join('\n\n')).toMatchSnapshot();
  });
});
