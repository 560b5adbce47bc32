import { parseQuery } from '@akin/domain';
import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { groupsOn, picture } from '../../../test/groups.ts';
import { ENGINES } from '../../../test/support.ts';
import { listGroups } from './list-groups.ts';

describe.each(ENGINES)('lists of groups on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  const on = groupsOn(kind);
  const { add, collectionOf, groups, update } = on;

  itOnPostgres('filters, to groups with two matching members', async () => {
    const collection = await collectionOf(
      picture('a', 0, { shop: 'x' }),
      picture('b', 0.01, { shop: 'y' }),
      picture('c', 0.02, { shop: 'y' }),
      picture('d', 1, { shop: 'x' }),
      picture('e', 1.01, { shop: 'y' }),
      picture('f', 2, { shop: 'x' }),
      picture('g', 2.01, { shop: 'x' }),
    );
    await update(collection);
    const by = (text: string) => ({ filters: [parseQuery(text, {})] });
    expect(await groups(collection, by('shop:y'))).toEqual([['b', 'c']]);
    expect(await groups(collection, by('shop:x'))).toEqual([['f', 'g']]);
    expect(await groups(collection, by('-id:b'))).toEqual([
      ['a', 'c'],
      ['d', 'e'],
      ['f', 'g'],
    ]);
    const page = await listGroups(on.store, collection, { rows: 1, members: 10, ...by('-id:b') });
    expect([page.numFound, page.next]).toEqual([3, 'a']);
    const last = await listGroups(on.store, collection, { rows: 10, members: 10, after: 'f', ...by('-id:b') });
    expect([last.numFound, last.groups, last.next]).toEqual([3, [], undefined]);
    await expect(groups(collection, by('nosuch:1'))).rejects.toThrow(/Parameter fq/);
  });

  itOnPostgres('counts documents that name one file once', async () => {
    const file = (id: string, angle: number, source: string, more: object = {}) =>
      picture(id, angle, { source, bytes: 9, ...more });
    const collection = await collectionOf(
      file('2023/a', 0, '/lib'),
      file('a again', 0, '/lib/2023/', { path: 'a' }),
      file('b', 1, '/lib', { file_inode: 7, file_hash: 1 }),
      file('link of b', 1, '/other', { file_inode: 7, file_hash: 1 }),
      file('copy of b', 1.01, '/lib', { file_inode: 7, file_hash: 2 }),
      picture('c', 2, { source: 'acme', path: 'shoes' }),
      picture('copy of c', 2.01, { source: 'acme', path: 'shoes' }),
    );
    await update(collection);
    const page = await listGroups(on.store, collection, { rows: 1, members: 10 });
    expect([page.numFound, page.next, page.groups.map(({ size }) => size)]).toEqual([2, 'b', [2]]);
    expect(await groups(collection)).toEqual([
      ['b', 'copy of b'],
      ['c', 'copy of c'],
    ]);
    expect(await groups(collection, { membersFrom: 1 })).toEqual([['copy of b'], ['copy of c']]);
    expect(await groups(collection, { filters: [parseQuery('id:*a*', {})] })).toEqual([]);
  });

  it('is paged without repetitions while groups change', async () => {
    const pairs = Array.from({ length: 9 }, (_, i) => [picture(`g${i}`, i), picture(`h${i}`, i + 0.01)]).flat();
    const collection = await collectionOf(...pairs);
    await update(collection);
    const seen: string[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await listGroups(on.store, collection, { rows: 2, members: 1, after });
      seen.push(...page.groups.map(({ id }) => id));
      expect(page.groups.every(({ members, size }) => members.length === 1 && size === 2)).toBe(true);
      if (page.next === undefined) break;
      after = page.next;
      if (after === 'g3') {
        await add(
          collection,
          { kind: 'delete', id: 'g1' },
          { kind: 'delete', id: 'h6' },
          picture('g44', 20),
          picture('g45', 20),
        );
        await update(collection);
      }
    }
    expect(seen).toEqual(['g0', 'g1', 'g2', 'g3', 'g4', 'g44', 'g5', 'g7', 'g8']);
  });
});
