import { parseQuery } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { sharedStore } from '../../../test/shared-store.ts';
import { accept, ENGINES, openTestStore } from '../../../test/support.ts';
import { commit } from '../../changes/commit/commit.ts';
import type { Store } from '../../changes/context.ts';
import { usesOf } from '../../search/field-uses.ts';
import { search } from '../../search/search.ts';
import { parseSort } from '../../search/sort.ts';
import type { Collection } from '../context.ts';
import { createCollection } from './collections.ts';
import { maintainFieldIndexes } from './field-indexes.ts';
import { loadSchema } from './schema.ts';

describe.each(ENGINES)('indexes on fields on %s', (kind) => {
  let store: Store;
  let collection: Collection;

  sharedStore(
    kind,
    async (opened) => {
      store = opened;
      collection = await createCollection(store, 'shop');
      await accept(
        store,
        collection,
        Array.from({ length: 40 }, (_, i) => ({
          id: `d${i}`,
          ...(i % 10 === 9 ? {} : { shelf: i % 4, name: `name ${i % 3}`, taken: `2024-01-${10 + (i % 7)}` }),
          labels: [`l${i % 5}`, 'all'],
          location: `${i},${-i}`,
        })),
      );
      await commit(store, collection);
    },
    (location) => openTestStore(location, 0, { indexedFrom: 10 }),
  );

  const find = async (q: string, sort = '') => {
    const result = await search(store, collection, { query: parseQuery(q), sort: parseSort(sort), rows: 20 });
    return [result.numFound, ...result.hits.map(({ id }) => id)];
  };
  const indexes = async () => {
    const rows = await store.engine.query<{ name: string }>(
      `select indexname as name from pg_indexes where schemaname = $1 and tablename = 'documents' and indexname like 'field\\_%' order by 1`,
      [collection.sqlSchema],
    );
    return rows.map(({ name }) => name);
  };
  const columnOf = async (field: string) => {
    const column = (await loadSchema(store, collection)).columns.get(field);
    return column?.kind === 'column' ? column.sql : '';
  };
  const keep = async () => {
    // On PGlite they are built in a pause, or after a long wait for one.
    await store.engine.query(
      `update ${collection.sqlSchema}.field_uses set first_used_at = now() - interval '6 seconds'`,
    );
    return maintainFieldIndexes(store, collection);
  };

  it('are built for fields that searches use, and change no result', async () => {
    const searches = [
      ['shelf:2'],
      ['shelf:[1 TO 2} AND name:"name 1"'],
      ['name:name\\ *'],
      ['-shelf:2'],
      ['labels:l3'],
      ['labels:(l1 l2)'],
      ['location:[3,-5 TO 5,-3]'],
      ['taken:2024-01-12'],
      ['*:*', 'shelf desc'],
      ['*:*', 'name asc, shelf desc'],
    ];
    const run = () => Promise.all(searches.map(([q = '', sort]) => find(q, sort)));
    expect(await indexes()).toEqual([]);
    const before = await run();
    expect(await keep()).toBe(true);
    const [shelf, name, taken] = await Promise.all(['shelf', 'name', 'taken'].map(columnOf));
    expect(await indexes()).toEqual(
      [
        `field_${shelf}_falling`,
        `field_${name}_rising`,
        `field_${taken}_rising`,
        'field_labels_elements',
        'field_place',
      ].sort(),
    );
    expect(await run()).toEqual(before);
    await store.engine.query('set enable_seqscan = off');
    expect(await run()).toEqual(before);
    await store.engine.query('set enable_seqscan = on');
    expect(await keep()).toBe(false);
  });

  it('answer a filter alone', async () => {
    await store.engine.query(`vacuum analyze ${collection.sqlSchema}.documents`);
    const shelf = await columnOf('shelf');
    const plan = await store.engine.transaction(async (tx) => {
      await tx.query('set local enable_seqscan = off');
      return tx.query(
        `explain select count(*) from ${collection.sqlSchema}.documents d where d.valid_from <= 1 and d.valid_to > 1 and ${shelf} = 2`,
      );
    });
    expect(JSON.stringify(plan)).toContain('Index Only Scan');
  });

  it('are dropped for values that are too long for them', async () => {
    const name = `field_${await columnOf('name')}_rising`;
    expect(await indexes()).toContain(name);
    // Random letters: values are compressed before they are measured.
    let seed = 1;
    const long = Array.from({ length: 6_000 }, () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return String.fromCharCode(97 + (seed % 26));
    }).join('');
    await accept(store, collection, [
      { id: 'long', name: long },
      { id: 'short', name: 'x' },
    ]);
    expect(await commit(store, collection)).toMatchObject({ failed: 0, applied: 2 });
    expect(await indexes()).not.toContain(name);
    expect(await find(`name:${long}`)).toEqual([1, 'long']);
    await keep();
    expect(await indexes()).not.toContain(name);
  });

  it('are dropped when no search uses them', async () => {
    expect(await indexes()).toContain('field_place');
    await store.engine.query(
      `update ${collection.sqlSchema}.field_uses set last_used_on = current_date - 31 where kind = 'place'`,
    );
    await keep();
    expect(await indexes()).not.toContain('field_place');
    // A use is recorded once a day. The test simulates the next day by deleting the record.
    usesOf(store).clear();
    await find('location:[3,-5 TO 5,-3]');
    await keep();
    expect(await indexes()).toContain('field_place');
  });

  it('are not built in small collections', async () => {
    const small = await createCollection(store, 'small');
    await accept(store, small, [{ id: 'a', shelf: 1 }]);
    await commit(store, small);
    await search(store, small, { query: parseQuery('shelf:1'), rows: 1 });
    expect(await store.engine.query(`select from ${small.sqlSchema}.field_uses`)).toEqual([]);
  });

  if (kind === 'postgres') {
    it('yield to new fields while they are built', async () => {
      await find('*:*', 'taken desc');
      const building = `select from pg_stat_progress_create_index where relid = '${collection.sqlSchema}.documents'::regclass`;
      const name = `field_${await columnOf('taken')}_falling`;
      await store.engine.transaction(
        async (tx) => {
          // An index is not finished before the transactions that began earlier.
          await tx.query('select from akin.collections');
          const keeping = keep();
          while ((await store.engine.query(building)).length === 0);
          await accept(store, collection, [{ id: 'new', colour: 'red' }]);
          expect(await keeping).toBe(true);
        },
        { snapshot: true },
      );
      await keep();
      expect(await indexes()).toContain(name);
    });

    it('that a crash left incomplete are built again', async () => {
      await store.engine.query(
        `update pg_index set indisvalid = false where indexrelid = '${collection.sqlSchema}.field_place'::regclass`,
      );
      expect(await keep()).toBe(true);
      const [row] = await store.engine.query(
        `select indisvalid as valid from pg_index where indexrelid = '${collection.sqlSchema}.field_place'::regclass`,
      );
      expect(row?.valid).toBe(true);
    });
  }
});
