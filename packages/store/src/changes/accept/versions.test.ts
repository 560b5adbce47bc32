import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { accept, ENGINES, removeMatching, testOutputs } from '../../../test/support.ts';
import type { Collection } from '../../database/context.ts';
import { claimForAnalysis, failAnalysis } from '../analyze/analysis.ts';
import { commit } from '../commit/commit.ts';
import type { Store } from '../context.ts';
import { currentVersions } from './versions.ts';

const remove = (id: string, expectedVersion?: bigint) =>
  ({ kind: 'delete', id, ...(expectedVersion === undefined ? {} : { expectedVersion }) }) as const;

describe.each(ENGINES)('versions of documents on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  freshCollections(kind, (fresh) => {
    ({ store, collection } = fresh);
  });

  const send = (...changes: object[]) => accept(store, collection, changes);
  const conflict = async (...changes: object[]) => {
    const error = await send(...changes).then(
      () => undefined,
      (error) => error,
    );
    return (
      error && [
        error.code,
        error.details.map(({ position }: { position: number }) => position),
        error.retryAfterSeconds,
      ]
    );
  };
  const CONFLICT = ['conflict', [0], undefined];
  const versions = async (...ids: string[]) => Object.fromEntries(await currentVersions(store, collection, ids));

  itOnPostgres('are compared with the last accepted change, visible or not', async () => {
    await send({ id: 'a' }, { id: 'b' });
    for (const visible of [false, true]) {
      if (visible) await commit(store, collection);
      expect(await versions('a', 'b', 'c')).toEqual({ a: 1n, b: 2n });
      for (const wrong of [
        { id: 'a', _version_: 2 },
        { id: 'a', _version_: -1 },
        { id: 'c', _version_: 1 },
        { id: 'c', _version_: 7 },
        remove('a', 2n),
        remove('a', -1n),
        remove('c', 1n),
      ]) {
        expect([wrong, await conflict(wrong)]).toEqual([wrong, CONFLICT]);
      }
    }
    expect((await send({ id: 'a', _version_: 1 }, { id: 'c', _version_: -5 }, { id: 'b', _version_: 2 })).first).toBe(
      3,
    );
    expect(await versions('a', 'b', 'c')).toEqual({ a: 3n, b: 5n, c: 4n });
    await send(remove('c', 4n), { id: 'a', n: { inc: 1 }, _version_: 3 }, { id: 'b', _version_: 0 });
    expect(await versions('a', 'b', 'c')).toEqual({ a: 7n, b: 8n });
    await commit(store, collection);
    expect(await versions('a', 'b', 'c')).toEqual({ a: 7n, b: 8n });
    expect(await conflict({ id: 'c', _version_: 1 })).toEqual(CONFLICT);
  });

  itOnPostgres('refuse the whole request, and consider earlier changes in it', async () => {
    await send({ id: 'a' });
    expect(await conflict({ id: 'x' }, { id: 'a', _version_: 5 }, { id: 'y', _version_: 1 })).toEqual([
      'conflict',
      [1, 2],
      undefined,
    ]);
    expect(await versions('x', 'y')).toEqual({});
    expect(await conflict({ id: 'n', _version_: -1 }, { id: 'n', _version_: -1 })).toEqual([
      'conflict',
      [1],
      undefined,
    ]);
    expect(
      await conflict({ id: 'n', _version_: -1 }, { id: 'n', _version_: 1 }, remove('n', 1n), {
        id: 'n',
        _version_: -1,
      }),
    ).toBeUndefined();
  });

  itOnPostgres('ignore failed changes', async () => {
    await send(
      { id: 'a' },
      { id: 'a', image: 'http://images.example/broken.jpg' },
      { id: 'b', image: 'http://images.example/b.jpg' },
    );
    expect(await versions('a', 'b')).toEqual({ a: 2n, b: 3n });
    for (const task of await claimForAnalysis(store, 10))
      await failAnalysis(store, task, { code: 'image-unreachable', msg: '' });
    expect(await versions('a', 'b')).toEqual({ a: 1n });
    expect(await conflict({ id: 'b', _version_: -1 })).toBeUndefined();
  });

  it('know the matches of a delete by query, or that they are not known yet', async () => {
    await send({ id: 'a', n: 1 }, { id: 'b', n: 2 });
    await commit(store, collection);
    await send({ id: 'new', n: 1 }, removeMatching('n:1'));
    expect(await versions('a', 'b')).toEqual({ b: 2n });
    expect(await conflict({ id: 'a', _version_: 1 })).toEqual(CONFLICT);
    expect(await conflict({ id: 'b', _version_: 2 })).toBeUndefined();
    expect(await conflict({ id: 'new', _version_: 1 })).toEqual(['conflict', [0], 5]);
    await send({ id: 'p' }, { id: 'q' }, removeMatching('id:p'));
    expect(await versions('p', 'q')).toEqual({ q: 7n });
    await send(removeMatching('*:*'), { id: 'z' });
    expect(await versions('b', 'q', 'new', 'z')).toEqual({ z: 10n });
    await commit(store, collection);
    expect(await versions('b', 'q', 'new', 'z')).toEqual({ z: 10n });
  });

  it('let one of two clients win that race', async () => {
    await send({ id: 'b' }, { id: 'a', import: testOutputs({}) });
    const won = await Promise.all(Array.from({ length: 8 }, (_, n) => conflict({ id: 'a', n, _version_: 2 })));
    expect(won.filter((one) => one === undefined)).toHaveLength(1);
    expect(won.filter((one) => one !== undefined)).toEqual(Array(7).fill(CONFLICT));
  });
});
