import { AkinRequestError } from '@akin/client';
import { forgetResults } from '../kept-results.ts';
import type { Model } from '../model.ts';
import { isGoingOn, loadNewModel } from './models.ts';
import type { ManageState } from './state.ts';

/** A query for the demo's documents. */
export const DEMO = 'id:demo-*';

export async function loadManageState(model: Model): Promise<void> {
  const { signal } = model.start();
  model.update({ loading: false, error: null });
  try {
    const [keys, demo, models] = await Promise.all([
      model.akin.keys().catch((error) => {
        if (error instanceof AkinRequestError && error.status !== 0) return null;
        throw error;
      }),
      demoOf(model),
      modelsOf(model),
    ]);
    if (signal.aborted) return;
    updateManageState(model, { keys: keys?.keys ?? null, ...demo, ...models });
    await watchModels(model, signal);
  } catch (error) {
    if (!signal.aborted) model.showError(error);
  }
}

async function demoOf({ collection }: Model): Promise<Pick<ManageState, 'demo' | 'demoCollection'>> {
  const found = await collection.select({ fq: DEMO, rows: 0 }).catch(() => undefined);
  return { demo: found?.response.numFound ?? 0, demoCollection: collection.name };
}

type ModelsState = Pick<ManageState, 'collections' | 'models' | 'newModel' | 'refusal' | 'reindex'>;

async function modelsOf(model: Model): Promise<ModelsState> {
  const { akin, collection } = model;
  const before = await akin.collections();
  const isFilling = before.collections.some(({ name }) => name === `${collection.name.slice(0, 90)}.reindex`);
  const [listed, reindex] = await Promise.all([
    akin.models().catch(() => undefined),
    // Without any reindex, the response would be an error.
    isFilling || isReindexing(model) ? collection.reindexStatus().catch(() => null) : null,
  ]);
  // A reindex can end after the collections were listed; its collection has another model then.
  const { collections } = reindex === null || isGoingOn(reindex) ? before : await akin.collections();
  return { collections, models: listed?.models ?? [], newModel: loadNewModel(), refusal: listed?.refusal, reindex };
}

/** Interval of requests during a download or a reindex. */
const BUSY_MILLISECONDS = 1_000;
let watching: AbortSignal | undefined;

/** Shows the progress of downloads and of a reindex until they end, or the user leaves the view. */
async function watchModels(model: Model, signal: AbortSignal): Promise<void> {
  if (watching === signal) return;
  watching = signal;
  while (isBusy(model)) {
    await new Promise((resolve) => setTimeout(resolve, BUSY_MILLISECONDS));
    if (signal.aborted) return;
    const wasReindexing = isReindexing(model);
    const models = await modelsOf(model).catch(() => undefined);
    if (signal.aborted) return;
    if (models === undefined) continue;
    updateManageState(model, models);
    // Its results were of the other model.
    if (wasReindexing && !isReindexing(model)) forgetResults();
  }
  watching = undefined;
}

function isBusy(model: Model): boolean {
  const { models } = model.pageData.managed;
  return isReindexing(model) || models.some(({ download }) => download?.state === 'running');
}

function isReindexing({ pageData }: Model): boolean {
  const { reindex } = pageData.managed;
  return reindex !== null && isGoingOn(reindex);
}

export function updateManageState(model: Model, change: Partial<ManageState>): void {
  model.update({ managed: { ...model.pageData.managed, ...change } });
}
