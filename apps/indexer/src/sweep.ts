import { type AnalysisJobRef, analysisJobId } from '@akin/contract';
import { type AnalysisRef, listAnalyzing, requeueAnalyses } from '@akin/store/changes';
import type { Context } from './context.ts';

/** If the queue does not know an analysis that started longer ago than this, its job is lost. */
const LOST_FROM_QUEUE_MILLISECONDS = 10_000;

/**
 * Queues analyses again that were lost with a queue or an analyzer.
 *
 * @returns how many
 */
export async function requeueLost({ store, queue, log }: Context): Promise<number> {
  const analyzing = await listAnalyzing(store, LOST_FROM_QUEUE_MILLISECONDS);
  const models = new Set(analyzing.map(({ models }) => models.get('content')));
  const byId = new Map(analyzing.map((ref) => [analysisJobId(jobRefOf(ref)), ref]));
  // In this order: a job of the first kind ends after it has added one of the second.
  for (const name of ['analyze', 'analyzed'] as const) {
    for (const id of await queue.liveJobs(name, [...byId.keys()], models)) byId.delete(id);
  }
  const requeued = await requeueAnalyses(store, [...byId.values()], { begun: true });
  if (requeued > 0) log.warn({ requeued }, 'lost analyses are queued again');
  return requeued;
}

export function jobRefOf({ collection, request, position, attempt }: AnalysisRef): AnalysisJobRef {
  return { collection: collection.id, request: String(request), position, attempt };
}
