import type { Job } from '@akin/queue';
import { inSpan } from '@akin/runtime';
import { failAnalysis, requeueAnalyses, saveAnalysis } from '@akin/store/changes';
import { collectionOf } from '@akin/store/database';
import type { Context } from './context.ts';
import { retryDelays } from './retries.ts';

/**
 * Stores the result of an analysis, or schedules another attempt, or lets the operation fail. Nothing happens if the
 * collection was dropped or a newer attempt runs.
 */
export async function handleAnalyzed(job: Job<'analyzed'>, context: Context): Promise<void> {
  const options = {
    kind: 'consumer',
    parent: job.payload.origin?.trace ?? null,
    attributes: {
      'messaging.system': 'bullmq',
      'messaging.destination.name': 'analyzed',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.message.id': job.id,
    },
  } as const;
  await inSpan('process analyzed', options, () => storeResult(job, context));
}

async function storeResult({ id: job, payload }: Job<'analyzed'>, { store, log }: Context): Promise<void> {
  const { request, position, attempt, result, origin } = payload;
  const collection = await collectionOf(store, payload.collection);
  if (collection === undefined) return;
  const ref = { collection, request: BigInt(request), position, attempt };
  if ('outputs' in result) {
    const thumbnail = result.thumbnail === undefined ? undefined : Buffer.from(result.thumbnail, 'base64');
    await saveAnalysis(store, ref, result.outputs, thumbnail);
  } else if ('handedBack' in result) {
    await requeueAnalyses(store, [ref], { begun: false });
  } else {
    const { code, msg } = result.error;
    const failed = await failAnalysis(
      store,
      ref,
      { code, msg },
      result.passing ? retryDelays(result.retryAfterSeconds) : [],
    );
    if (failed === undefined) return;
    const { seq, state } = failed;
    // As in responses and on the page.
    const operation = `${collection.name}-${seq}`;
    log.info(
      { requestId: origin?.requestId, collection: collection.name, operation, job, attempt, code, msg, state },
      'no analysis',
    );
  }
}
