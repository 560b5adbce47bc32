import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { statementsOf } from '../../../test/sent-statements.ts';
import { accept, ENGINES } from '../../../test/support.ts';
import type { Collection } from '../../database/context.ts';
import type { Store } from '../context.ts';
import { BEFORE_ALL, nextReady, requestPages, type UnfinishedRequest } from './ready-operations.ts';

describe.each(ENGINES)('the next ready operations on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  freshCollections(kind, (fresh) => {
    ({ store, collection } = fresh);
  });

  const ofRequest = (request: number, isPicture = false) =>
    Array.from({ length: 4 }, (_, i) => ({
      id: `${request}-${i}`,
      ...(isPicture ? { image: 'http://pictures.example/1.jpg' } : {}),
    }));
  const END_SEQ = 1_000n;
  const onlyPage = async () => {
    const pages: UnfinishedRequest[][] = [];
    for await (const page of requestPages(store, collection, END_SEQ)) pages.push(page);
    return pages.flat();
  };

  it('come in accepted order, however many are read at a time, between others that are analyzed', async () => {
    for (let request = 0; request < 12; request++) {
      await accept(store, collection, ofRequest(request, request % 4 === 1 || (request > 5 && request < 11)));
    }
    const wanted = [0, 2, 3, 4, 11].flatMap((request) => ofRequest(request).map(({ id }) => id));
    const page = await onlyPage();
    for (const limit of [1, 3, 4, 7, 100]) {
      const found: (string | null)[] = [];
      for (let after = BEFORE_ALL, isMore = true; isMore; ) {
        const operations = await nextReady(store, collection, page, { after, endSeq: END_SEQ }, limit);
        found.push(...operations.map(({ id }) => id));
        after = operations.at(-1)?.seq ?? after;
        isMore = operations.length === limit;
      }
      expect(found).toEqual(wanted);
    }
    const inside = await nextReady(store, collection, page, { after: 2n, endSeq: 10n }, 100);
    expect(inside.map(({ id }) => id)).toEqual(['0-2', '0-3', '2-0']);
  });

  itOnPostgres('are looked for in as few requests as suffice', async () => {
    for (let request = 0; request < 10; request++) await accept(store, collection, ofRequest(request));
    const page = await onlyPage();
    const sent = await statementsOf(async () => {
      for (const [after, limit] of [
        [BEFORE_ALL, 4],
        [3n, 4],
        [4n, 4],
        [4n, 9],
      ] as const) {
        expect(await nextReady(store, collection, page, { after, endSeq: END_SEQ }, limit)).toHaveLength(limit);
      }
    });
    const requests = sent.flatMap(({ values }) => values.filter((value) => Array.isArray(value)));
    expect(requests.map(({ length }) => length)).toEqual([1, 2, 1, 3]);
  });
});
