import type { Metrics } from '@akin/runtime';
import { type CollectionStatus, collectionStatus, oldestUnseen } from '@akin/store';
import type { Context } from './context.ts';
import type { Led } from './leadership.ts';

/** Counting what waits takes time: scrapes within so many milliseconds share a count. */
const FRESH_MILLISECONDS = 5_000;

interface Figures {
  readonly status: CollectionStatus;
  /** Seconds. */
  readonly lag: number;
}

/** Tells of the queue, and of the collections that this process leads: so each collection is told of by one process. */
export function tellFigures(
  { store, queue }: Pick<Context, 'store' | 'queue'>,
  metrics: Metrics,
  led: () => Promise<Led[]>,
): void {
  metrics.gauges('akin_queue_jobs', 'Jobs in the queue, by queue and state', ['queue', 'state'], async () => {
    const rows = [];
    for (const name of ['analyze', 'analyzed'] as const) {
      // The other figures are told while the queue is away, too.
      const counts = await queue.counts(name).catch(() => ({}));
      for (const [state, value] of Object.entries(counts)) rows.push({ labels: { queue: name, state }, value });
    }
    return rows;
  });

  let known: { readonly until: number; readonly figures: Promise<Map<string, Figures>> } | undefined;
  const figures = () => {
    if (known === undefined || performance.now() > known.until) {
      known = { until: performance.now() + FRESH_MILLISECONDS, figures: read().catch(() => new Map()) };
    }
    return known.figures;
  };
  async function read(): Promise<Map<string, Figures>> {
    const all = new Map<string, Figures>();
    for (const { collection } of await led()) {
      const [status, oldest] = await Promise.all([
        collectionStatus(store, collection),
        oldestUnseen(store, collection),
      ]);
      all.set(collection.name, { status, lag: oldest === undefined ? 0 : (Date.now() - oldest.getTime()) / 1000 });
    }
    return all;
  }
  const ofEach = (name: string, help: string, value: (figures: Figures) => number) =>
    metrics.gauges(name, help, ['collection'], async () =>
      [...(await figures())].map(([collection, one]) => ({ labels: { collection }, value: value(one) })),
    );
  ofEach('akin_documents', 'Documents that searches see', ({ status }) => status.documents);
  ofEach('akin_changes_waiting', 'Changes that are accepted and not visible yet', ({ status }) => status.pending);
  ofEach(
    'akin_visible_lag_seconds',
    'How long ago the oldest change was accepted that is not visible',
    ({ lag }) => lag,
  );
  metrics.gauges('akin_changes_failed', 'Failed changes, by reason', ['collection', 'reason'], async () =>
    [...(await figures())].flatMap(([collection, { status }]) =>
      Object.entries(status.failures).map(([reason, value]) => ({ labels: { collection, reason }, value })),
    ),
  );
  metrics.gauge(
    'akin_bulk_rest',
    'Milliseconds that bulk work rests for each millisecond of work, so that searches stay quick',
    () => store.brake.strength,
  );
}
