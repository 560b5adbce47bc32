import { randomUUID } from 'node:crypto';
import { AkinError } from '@akin/domain';
import { sleep } from '@akin/runtime';
import {
  type BegunReindex,
  type Collection,
  findCollection,
  leftReindexes,
  modelName,
  resumeReindex,
  runReindex,
} from '@akin/store';
import type { SharedContext } from '../context.ts';
import { analyzeAgain } from './analyze-again.ts';

/** What a reindex needs of the gateway. */
type Context = Pick<
  SharedContext,
  'store' | 'commit' | 'wake' | 'background' | 'analyze' | 'openOriginal' | 'log' | 'limits'
>;

/** Does a reindex that was begun, or goes on with one, in the background of this process. */
export function doReindex(
  collection: Collection,
  { target, settings }: BegunReindex,
  worker: string,
  context: Context,
): void {
  const { store, commit, wake, background } = context;
  background(`reindexing ${collection.name}`, async (signal) => {
    const { allowMissing = false, outputsFrom } = settings;
    const pictures = outputsFrom === undefined ? undefined : await findOutputs(outputsFrom, context);
    const again = analyzeAgain(context, signal);
    const work = { worker, allowMissing, outputsFrom: pictures, analyzeAgain: again, signal, wake, commit };
    await runReindex(store, collection, target, work);
  });
}

/** @returns undefined when the collection was dropped since the reindex began: pictures are analyzed instead */
async function findOutputs(name: string, { store, log }: Context): Promise<Collection | undefined> {
  try {
    return await findCollection(store, name);
  } catch (error) {
    if (!(error instanceof AkinError) || error.code !== 'not-found') throw error;
    log.warn({ outputsFrom: name }, 'goes on without the collection of outputs, which is gone');
    return undefined;
  }
}

/** Goes on, now and from time to time, with what processes that are gone left behind, where the models are here. */
export function takeLeftReindexes(context: Context, milliseconds: number): void {
  const { store, background, log } = context;
  background('looking for reindexes that nobody does', async (signal) => {
    // A line for each, not one every time.
    const refused = new Set<string>();
    while (!signal.aborted) {
      try {
        for (const name of await leftReindexes(store)) {
          try {
            await takeOver(name, context);
            refused.delete(name);
          } catch (err) {
            // One that cannot go on here must not hold up the others.
            if (!refused.has(name)) log.warn({ err, collection: name }, 'cannot go on with a reindex here');
            refused.add(name);
          }
        }
      } catch (err) {
        log.warn({ err }, 'reindexes that nobody does could not be looked for');
      }
      await sleep(milliseconds, signal).catch(() => {});
    }
  });
}

async function takeOver(name: string, context: Context): Promise<void> {
  const { store, log } = context;
  const collection = await findCollection(store, name);
  const target = await findCollection(store, `${name.slice(0, 90)}.reindex`);
  const model = modelName(target);
  // Rejects where the models are not here: another gateway may have them.
  if (model !== undefined) await store.generations.ofName(model);
  const worker = randomUUID();
  const begun = await resumeReindex(store, collection, worker);
  if (begun === undefined) return;
  log.info({ collection: name }, 'goes on with a reindex');
  doReindex(collection, begun, worker, context);
}
