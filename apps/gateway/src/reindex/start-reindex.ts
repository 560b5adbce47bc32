import { randomUUID } from 'node:crypto';
import { AkinError } from '@akin/domain';
import { sleep } from '@akin/runtime';
import { type Collection, findCollection } from '@akin/store/database';
import { orphanedReindexes, resumeReindex, runReindex, type StartedReindex } from '@akin/store/maintenance';
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
            const isResumed = await continueReindex(await findCollection(store, name), context);
            if (isResumed) log.info({ collection: name }, 'continues a reindex');
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

/**
 * Continues a paused reindex, or one whose process is gone, in the background of this process.
 *
 * @returns false if there is none
 * @throws AkinError if its models are not here: another gateway may have them
 */
export async function continueReindex(collection: Collection, context: Context): Promise<boolean> {
  const holder = randomUUID();
  const begun = await resumeReindex(context.store, collection, holder);
  if (begun !== undefined) startReindex(collection, begun, holder, context);
  return begun !== undefined;
}
