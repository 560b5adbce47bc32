import { ConflictError, type Run } from '@akin/client';
import { inOrder } from '../in-order.ts';
import type { Model } from '../model.ts';
import type { Runs } from './runs.ts';

/** Minimum time over which the rate is measured. */
const RATE_MILLISECONDS = 3_000;

/** Start of the rate measurement, and the number of processed files at that time. */
let sample: { readonly run: string; readonly at: number; readonly worked: number } | undefined;

const lists = inOrder();

export async function updateRuns(model: Model): Promise<void> {
  const { collection } = model.state;
  try {
    const answer = await lists(() => model.collection.runs());
    if (answer && collection === model.state.collection)
      model.update({ runs: mergeRuns(model.pageData.runs, answer.runs) });
  } catch {
    // Ignored here: the next search shows the error.
  }
}

function mergeRuns(before: Runs, list: readonly Run[]): Runs {
  const running = list.find(({ state }) => state === 'running');
  const seen = new Set([...before.seen, ...(running ? [running.id] : [])]);
  return { ...before, list, seen, rate: running && rateOf(running) };
}

function rateOf({ id, done, failed }: Run): number | undefined {
  const now = performance.now();
  const worked = done + failed;
  if (sample?.run !== id || worked < sample.worked) sample = { run: id, at: now, worked };
  const milliseconds = now - sample.at;
  return milliseconds < RATE_MILLISECONDS ? undefined : ((worked - sample.worked) * 1_000) / milliseconds;
}

export function retryRun(model: Model, id: string): Promise<void> {
  return act(model, async () => {
    try {
      await model.collection.retryRun(id);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      const { runs } = model.pageData;
      model.update({ runs: { ...runs, ended: new Set([...runs.ended, id]) } });
    }
  });
}

export function dismissRun(model: Model, id: string): Promise<void> {
  return act(model, () => model.collection.dismissRun(id));
}

async function act(model: Model, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
    model.update({ error: null });
  } catch (error) {
    model.showError(error);
  }
  await updateRuns(model);
}
