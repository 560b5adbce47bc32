import { AkinError, type ErrorCode } from '@akin/domain';
import { sleep } from '@akin/runtime';
import { createCollection, findCollection } from '@akin/store/database';
import { beginReindex, dropCollection, type PictureToAnalyze, reindexState } from '@akin/store/maintenance';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { ask, postJson } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';
import type { GatewayLimits } from '../admission/limits.ts';
import { type AnalyzeImage, NO_ORIGINALS } from '../config.ts';
import type { Context } from '../context.ts';
import { computeFromCache } from '../search/compute-from-cache.ts';
import { reanalyze } from './reanalyze.ts';
import { requireAnalysis } from './require-analysis.ts';

const NEVER = new AbortController().signal;

let service: Service;
beforeAll(async () => {
  service = await startService({ limits: { orphanedReindexesMilliseconds: 5 } });
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

/** A collection with one document, whose reindex no process runs. */
async function leave(
  name: string,
  { outputsFrom, model }: { outputsFrom?: string; model?: string } = {},
): Promise<void> {
  const { store, gateway } = service;
  const { engine } = store;
  const collection = await createCollection(store, name);
  await postJson(gateway, `/api/cores/${name}/update?commit=true`, [{ id: 'red', import: outputsOf('red') }]);
  const target = await beginReindex(store, collection, `${name}-gone`, new Map(), outputsFrom ? { outputsFrom } : {});
  if (model) {
    const settings = JSON.stringify({ model });
    await engine.query('update akin.collections set settings = $2 where id = $1', [target?.id ?? null, settings]);
  }
  await engine.query(`update akin.reindexes set heartbeat_at = '-infinity' where name = $1`, [name]);
}

async function untilDone(name: string): Promise<void> {
  while ((await reindexState(service.store, name))?.state !== 'done') await sleep(5, NEVER);
}

describe('reindexes without a process', () => {
  it('continue, whatever others lack, and without a deleted collection of outputs', async () => {
    await leave('unknown-model', { model: 'nothing' });
    await leave('shop', { outputsFrom: 'dropped' });
    await leave('another-unknown', { model: 'nothing' });
    await untilDone('shop');
    await leave('later');
    await untilDone('later');
    const warnings = () => service.log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields);
    // In any order: the last one may come after the last reindex is done.
    while (warnings().length < 3) await sleep(5, NEVER);
    expect(
      warnings()
        .map(({ collection, outputsFrom }) => collection ?? outputsFrom)
        .sort(),
    ).toEqual(['another-unknown', 'dropped', 'unknown-model']);
    expect((await ask(service.gateway, '/api/cores/shop/select?q=id:red')).json.response.numFound).toBe(1);
  });
});

describe('a result', () => {
  it('is computed again if another collection got the name meanwhile', async () => {
    const { store } = service;
    await createCollection(store, 'swapped');
    const replacements = ['swapped.old'];
    const value = await computeFromCache('swapped', { store } as Context, true, async (collection) => {
      const name = replacements.pop() ?? collection.name;
      if (name !== collection.name) {
        await dropCollection(store, collection);
        await createCollection(store, 'swapped');
      }
      return { value: collection.id, collection: { name, schemaVersion: 1 } };
    });
    expect(value).toBe((await findCollection(store, 'swapped')).id);
  });

  it('counts although a standby that it is read from does not know yet that the collection got the name', async () => {
    const { store } = service;
    await createCollection(store, 'followed');
    const names = ['followed.reindex', 'followed.reindex', 'followed.reindex'];
    await computeFromCache('followed', { store } as Context, true, async () => {
      const name = names.pop() ?? 'followed';
      return { value: undefined, collection: { name, schemaVersion: 1 } };
    });
    expect(names).toHaveLength(2);
  });
});

describe('a reindex by another model', () => {
  it('is refused if no analyzer can use the model, but not if they are only unreachable', async () => {
    const limits = { analyzeMilliseconds: 60_000 } as GatewayLimits;
    const failing = (code: ErrorCode) => async () => Promise.reject(new AkinError(code, `It is ${code}.`));
    const tried = (code: ErrorCode) => requireAnalysis('m:1', { analyze: failing(code), limits }, NEVER);
    await expect(tried('conflict')).rejects.toThrow('It is conflict.');
    await tried('unavailable');
    const hanging = { analyzeMilliseconds: 1 } as GatewayLimits;
    const analyze: AnalyzeImage = (_input, _modules, { signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    await requireAnalysis('m:1', { analyze, limits: hanging }, NEVER);
  });
});

describe('pictures of a reindex', () => {
  it('are not retried after it was abandoned', async () => {
    const left = new AbortController();
    let tries = 0;
    const analyze = async () => {
      tries++;
      left.abort(new Error('paused'));
      throw new AkinError('unavailable', 'No analyzer.');
    };
    const originals = { ...NO_ORIGINALS, open: () => Promise.reject(new Error('no folder')) };
    const picture = { id: 'red', outputs: '{}', thumbnail: Buffer.from('RIFF'), place: undefined };
    const again = reanalyze({ analyze, originals }, 'my-collection', NEVER);
    await expect(again(picture as PictureToAnalyze, service.store, left.signal)).rejects.toThrow();
    expect(tries).toBe(1);
  });
});
