import { randomUUID } from 'node:crypto';
import { AkinError } from '@akin/domain';
import { sleep } from '@akin/runtime';
import { orphanedReindexes, resumeReindex, runReindex, type StartedReindex } from '@akin/store/changes';
import { type Collection, findCollection, modelName } from '@akin/store/database';
import type { SharedContext } from '../context.ts';
import { reanalyze } from './reanalyze.ts';

type Context = Pick<
  SharedContext,
  'store' | 'commit' | 'wake' | 'background' | 'analyze' | 'originals' | 'log' | 'limits'
>;

/** Runs a new or an interrupted reindex in the background of this process. */
export function startReindex(
  collection: Collection,
  { target, settings }: StartedReindex,
  holder: string,
  context: Context,
): void {
  const { store, commit, wake, background } = context;
  background(`reindexing ${collection.name}`, async (signal) => {
    const { allowMissing = false, outputsFrom } = settings;
    const pictures = outputsFrom === undefined ? undefined : await findOutputs(outputsFrom, context);
    const again = reanalyze(context, collection.name, signal);
    const work = { holder, allowMissing, outputsFrom: pictures, reanalyze: again, signal, wake, commit };
    await runReindex(store, collection, target, work);
  });
}

/** @returns undefined if the collection was dropped since the reindex began: pictures are analyzed instead */
async function findOutputs(name: string, { store, log }: Context): Promise<Collection | undefined> {
  try {
    return await findCollection(store, name);
  } catch (error) {
    if (!(error instanceof AkinError) || error.code !== 'not-found') throw error;
    log.warn({ outputsFrom: name }, 'continues without the collection of outputs, which was deleted');
    return undefined;
  }
}

/** Looks now and periodically for reindexes whose process has ended, and continues those whose models are here. */
export function resumeOrphanedReindexes(context: Context, milliseconds: number): void {
  const { store, background, log } = context;
  background('search for reindexes without a process', async (signal) => {
    // Log one line for each, not one per attempt.
    const refused = new Set<string>();
    while (!signal.aborted) {
      try {
        for (const name of await orphanedReindexes(store)) {
          try {
            await resume(name, context);
            refused.delete(name);
          } catch (err) {
            // A reindex that cannot continue here must not block the others.
            if (!refused.has(name)) log.warn({ err, collection: name }, 'cannot continue a reindex here');
            refused.add(name);
          }
        }
      } catch (err) {
        log.warn({ err }, 'cannot search for reindexes without a process');
      }
      await sleep(milliseconds, signal).catch(() => {});
    }
  });
}

async function resume(name: string, context: Context): Promise<void> {
  const { store, log } = context;
  const collection = await findCollection(store, name);
  const target = await findCollection(store, `${name.slice(0, 90)}.reindex`);
  const model = modelName(target);
  // Rejects if the models are not here: another gateway may have them.
  if (model !== undefined) await store.modelSets.ofName(model);
  const holder = randomUUID();
  const begun = await resumeReindex(store, collection, holder);
  if (begun === undefined) return;
  log.info({ collection: name }, 'continues a reindex');
  startReindex(collection, begun, holder, context);
}
