import { type Metrics, withTimeout } from '@akin/runtime';
import { countCollectionsWithoutLeader } from '@akin/store/changes';
import { type CollectionStatus, collectionStatus } from '@akin/store/database';
import type { Context } from './context.ts';
import type { LedCollection } from './leadership.ts';

/** Counting waiting changes takes time: scrapes within this interval share a count. */
const FRESH_MILLISECONDS = 5_000;
/** A queue that hangs must not block the other metrics. */
const QUEUE_MILLISECONDS = 2_000;

/**
 * Reports metrics of the queue, and of the collections that this process leads, so that exactly one process reports
 * each collection.
 */
export function reportMetrics(
  { store, queue }: Pick<Context, 'store' | 'queue'>,
  metrics: Metrics,
  led: () => Promise<LedCollection[]>,
): void {
  metrics.gauges('akin_queue_jobs', 'Jobs in the queue, by queue and state', ['queue', 'state'], async () => {
    const rows = [];
    for (const name of ['analyze', 'analyzed'] as const) {
      // The other metrics are reported even if the queue cannot be reached.
      const counts = await withTimeout(QUEUE_MILLISECONDS, queue.counts(name)).catch(() => ({}));
      for (const [state, value] of Object.entries(counts)) rows.push({ labels: { queue: name, state }, value });
    }
    return rows;
  });

  let known: { readonly until: number; readonly figures: Promise<Map<string, CollectionStatus>> } | undefined;
  const figures = () => {
    if (known === undefined || performance.now() > known.until) {
      known = { until: performance.now() + FRESH_MILLISECONDS, figures: read().catch(() => new Map()) };
    }
    return known.figures;
  };
  /** Values of collections without changes stay valid until one of them changes. */
  let resting = new Map<number, { readonly version: string; readonly figures: CollectionStatus }>();
  async function read(): Promise<Map<string, CollectionStatus>> {
    const all = new Map<string, CollectionStatus>();
    const still: typeof resting = new Map();
    for (const { collection, version, open } of await led()) {
      const before = open ? undefined : resting.get(collection.id);
      const figures = before?.version === version ? before.figures : await collectionStatus(store, collection);
      if (!open) still.set(collection.id, { version, figures });
      all.set(collection.name, figures);
    }
    resting = still;
    return all;
  }
  const ofEach = (name: string, help: string, value: (figures: CollectionStatus) => number) =>
    metrics.gauges(name, help, ['collection'], async () =>
      [...(await figures())].map(([collection, one]) => ({ labels: { collection }, value: value(one) })),
    );
  ofEach('akin_documents', 'Visible documents', ({ documents }) => documents);
  ofEach('akin_document_bytes', 'Bytes of the visible documents', ({ bytes }) => bytes);
  const ofQuota = (name: string, help: string, value: (quota: CollectionStatus['quota']) => number | null) =>
    metrics.gauges(name, help, ['collection'], async () =>
      [...(await figures())].flatMap(([collection, { quota }]) => {
        const limit = value(quota);
        return limit === null ? [] : [{ labels: { collection }, value: limit }];
      }),
    );
  ofQuota('akin_quota_documents', 'Quota of documents', ({ maxDocuments }) => maxDocuments);
  ofQuota('akin_quota_bytes', 'Quota of bytes', ({ maxBytes }) => maxBytes);
  ofEach('akin_changes_waiting', 'Changes that are accepted and not visible yet', ({ pending }) => pending);
  ofEach('akin_visible_lag_seconds', 'Age of the oldest change that is not visible', ({ pendingSince }) =>
    pendingSince === null ? 0 : (Date.now() - pendingSince.getTime()) / 1000,
  );
  metrics.gauges('akin_changes_failed', 'Failed changes, by reason', ['collection', 'reason'], async () =>
    [...(await figures())].flatMap(([collection, { failures }]) =>
      Object.entries(failures).map(([reason, value]) => ({ labels: { collection, reason }, value })),
    ),
  );
  metrics.gauge('akin_collections_led', 'Collections that this process leads', async () => (await led()).length);
  metrics.gauges('akin_collections_without_leader', 'Collections that no process leads', [], async () => [
    { labels: {}, value: await countCollectionsWithoutLeader(store) },
  ]);
  metrics.gauge('akin_bulk_throttled', '1 while bulk work pauses between its pieces, because somebody searches', () =>
    Number(store.throttle.isPausing),
  );
}
