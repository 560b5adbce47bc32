import { AkinError } from '@akin/domain';
import { replaceOutputs } from '@akin/modules/vectors';
import { sleep } from '@akin/runtime';
import type { ModelSet } from '@akin/store/database';
import type { PictureToAnalyze } from '@akin/store/maintenance';
import type { Analysis } from '../config.ts';
import type { SharedContext } from '../context.ts';
import { openOriginal } from '../open-original.ts';

type Context = Pick<SharedContext, 'analyze' | 'originals'>;

interface Reanalysis {
  readonly outputs: string;
  readonly fromThumbnail: boolean;
}

const RETRY_MILLISECONDS = 2_000;

/**
 * Analyzes pictures for a reindex that have no usable URL: the file, if this akin indexed its folder into the
 * collection, or else the thumbnail. Outputs of modules whose model stays are kept, because they were made from the
 * whole picture. Modules that are added also analyze a picture from its URL.
 *
 * @param collection whose folders may be read
 * @param background ends all analyses
 * @returns an `Reanalyze`; the signal of its call ends one analysis, because a reindex may be paused
 */
export function reanalyze(context: Context, collection: string, background: AbortSignal) {
  return async (picture: PictureToAnalyze, modelSet: ModelSet, left?: AbortSignal): Promise<Reanalysis | undefined> => {
    const signal = left === undefined ? background : AbortSignal.any([background, left]);
    if (picture.outputs === null) return undefined;
    const { thumbnail, added, outputs: kept } = picture;
    const modules = added?.modules ?? outdatedModules(kept, modelSet);
    const model = modelSet.models.get('content');
    const options = { urgent: false, model, signal };
    const analyzed = async (analyze: () => Promise<Analysis>, fromThumbnail: boolean): Promise<Reanalysis> => {
      const { outputs } = await retryTransient(analyze, signal);
      return { outputs: replaceOutputs(kept, outputs, modules), fromThumbnail };
    };
    const file = await openOriginal(context.originals, collection, picture.place);
    const url = file === undefined ? added?.address : undefined;
    try {
      if (file !== undefined) return await analyzed(() => file.analyze(modules, options), false);
      if (url !== undefined) return await analyzed(() => context.analyze({ url }, modules, options), false);
    } catch (error) {
      // What is there now may no longer be a picture.
      if (signal.aborted || !(error instanceof AkinError)) throw error;
    }
    if (thumbnail === null) return undefined;
    return analyzed(() => context.analyze({ bytes: thumbnail }, modules, options), true);
  };
}

/** The modules whose outputs these models do not accept. */
function outdatedModules(outputs: string, { modules, parseOutputs }: ModelSet): string[] {
  const described = modules.filter(({ descriptor }) => descriptor !== undefined).map(({ name }) => name);
  const others = (name: string) => described.filter((one) => one !== name);
  return described.filter((name) => {
    try {
      parseOutputs(replaceOutputs(outputs, '{}', others(name)));
      return false;
    } catch {
      return true;
    }
  });
}

/** Errors of analyzers, not of the picture. */
const TRANSIENT: ReadonlySet<string> = new Set(['unavailable', 'too-many-requests', 'conflict']);

/**
 * Waits for analyzers that are unreachable, busy or lack the model: a picture does not count as missing because of
 * them.
 */
async function retryTransient<Value>(work: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const passes = error instanceof AkinError && TRANSIENT.has(error.code);
      if (!passes || signal.aborted) throw error;
      await sleep(RETRY_MILLISECONDS, signal);
    }
  }
}
