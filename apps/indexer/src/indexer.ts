import { AkinError } from '@akin/domain';
import type { Queue } from '@akin/queue';
import { causeFields, type Log, type Metrics } from '@akin/runtime';
import {
  type CommitResult,
  commit,
  completeCommitRequests,
  helpCommits,
  requestedCommits,
  type Store,
} from '@akin/store/changes';
import { type Collection, findCollection } from '@akin/store/database';
import { dropReplaced, maintainCollection } from '@akin/store/maintenance';
import { handleAnalyzed } from './analyzed.ts';
import { inBackground } from './background.ts';
import { createDispatch } from './dispatch.ts';
import { createLeadership, type LedCollection } from './leadership.ts';
import { reportMetrics } from './metrics.ts';
import { countGrouped, Groups } from './refresh-groups.ts';
import { Rounds } from './rounds.ts';
import { requeueLost } from './sweep.ts';

export interface IndexerConfig {
  readonly store: Store;
  readonly queue: Queue;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Interval of automatic commits in milliseconds. Default: 15,000. */
  readonly autoCommitMilliseconds?: number;
  /** Interval of the search for lost analyses and old rows in milliseconds. Default: 10,000. */
  readonly sweepMilliseconds?: number;
}

/**
 * Processes accepted changes until searches see them. Disposing ends current work, and cancels statements that take
 * longer than a second. Nothing accepted is lost, and the next indexer continues.
 */
export interface Indexer extends AsyncDisposable {
  /** Call this after changes were accepted; otherwise they are noticed a second later. */
  wake(): void;
  /**
   * Makes ready changes visible now. Concurrent calls share a commit.
   * @throws AkinError not-found; unavailable for a collection that another process leads: then use `requestCommit`
   */
  commit(collection: string): Promise<CommitResult>;
}

/** Other processes accept changes too, and do not wake this one. Images also wait for their next attempt. */
const DISPATCH_MILLISECONDS = 1_000;
const RESULT_CONCURRENCY = 4;
/** Many analyses may end at once: their slots are filled together. */
const COALESCE_MILLISECONDS = 50;
/** Accepted changes also wake the grouping, which then has nothing to do. */
const GROUPING_APART_MILLISECONDS = 200;
/** Poll interval for requested commits. A notification wakes it earlier. */
const REQUESTED_COMMIT_MILLISECONDS = 500;
/** Poll interval for shards of commits of other leaders: such commits take seconds. */
const HELP_MILLISECONDS = 1_000;

/** At shutdown, running statements have this time. Then they are cancelled, repeatedly, until all work has ended. */
const LAST_STATEMENT_MILLISECONDS = 1_000;

export function createIndexer(config: IndexerConfig): Indexer {
  const { store, queue, log, metrics, autoCommitMilliseconds = 15_000, sweepMilliseconds = 10_000 } = config;
  const queueWaits = metrics.histogram(
    'akin_analysis_wait_seconds',
    'Time from acceptance of a picture until it is queued for analysis',
    ['priority'],
    [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600, 3600, 6 * 3600],
  );
  const context = { store, queue, log, queueWaits };
  const commits = metrics.histogram('akin_commit_seconds', 'Time of a commit with changes');
  const helped = metrics.counter(
    'akin_shards_helped_total',
    'Shards that this process applied for commits of another leader',
    ['collection'],
  );
  reportMetrics(context, metrics, () => leadership.ledCollections());

  const stopping = new AbortController();

  async function commitTimed({
    collection,
    lease,
  }: Pick<LedCollection, 'collection' | 'lease'>): Promise<CommitResult> {
    const from = performance.now();
    const result = await commit(store, collection, lease, stopping.signal);
    if (result.applied > 0 || result.failed > 0) {
      const milliseconds = Math.round(performance.now() - from);
      commits.observe(milliseconds / 1000);
      log.info({ collection: collection.name, ...result, milliseconds }, 'committed');
    }
    return result;
  }

  /** The running commits. Nobody waits for all of them: a large one would delay those of other collections. */
  const atWork = new Map<Promise<void>, number>();
  function begin(one: LedCollection, work: () => Promise<unknown>): void {
    const promise = work().then(
      () => void atWork.delete(promise),
      (err) => {
        atWork.delete(promise);
        logFailure(one, err);
      },
    );
    atWork.set(promise, one.collection.id);
  }

  async function commitAll(): Promise<void> {
    const open = await leadership.ledCollections('open');
    const busy = new Set(atWork.values());
    for (const one of open) if (!busy.has(one.collection.id)) begin(one, () => commitTimed(one));
  }

  /** Commit requests in progress, by id of the collection. */
  const completing = new Map<number, bigint>();
  async function commitOnRequest(): Promise<void> {
    const requested = await requestedCommits(store);
    for (const [id, asked] of requested) if ((completing.get(id) ?? 0n) >= asked) requested.delete(id);
    if (requested.size === 0) return;
    for (const one of await leadership.ledCollections()) {
      const { id } = one.collection;
      const asked = requested.get(id);
      if (asked === undefined) continue;
      completing.set(id, asked);
      begin(one, async () => {
        try {
          await commitTimed(one);
          await completeCommitRequests(store, one.collection, asked);
        } finally {
          if (completing.get(id) === asked) completing.delete(id);
        }
      });
    }
  }

  function logFailure({ collection }: LedCollection, err: Error): void {
    const isTransient = err instanceof AkinError && ['conflict', 'unavailable', 'not-found'].includes(err.code);
    if (isTransient) {
      log.warn({ collection: collection.name, reason: err.message, ...causeFields(err) }, 'no commit');
    } else log.error({ err, collection: collection.name }, 'commit failed');
  }

  const dispatch = createDispatch(context);
  const dispatching = inBackground('dispatch', DISPATCH_MILLISECONDS, dispatch.run, log, COALESCE_MILLISECONDS);
  const committing = inBackground('commit', autoCommitMilliseconds, commitAll, log);
  const sweeping = inBackground(
    'sweep',
    sweepMilliseconds,
    async () => {
      if ((await requeueLost(context)) > 0) dispatching.wake();
    },
    log,
  );
  /** Does some work in each collection that this process leads and that may have some. */
  const inRounds = (failure: string, work: (collection: Collection) => Promise<boolean>) => {
    const rounds = new Rounds(store, log, failure);
    return async () => rounds.run(await leadership.ledCollections(), work, stopping.signal);
  };
  const runAllHousekeeping = inRounds('housekeeping failed', (collection) =>
    maintainCollection(store, collection, stopping.signal),
  );
  const housekeeping = inBackground(
    'housekeeping',
    sweepMilliseconds,
    async () => {
      await dropReplaced(store);
      await runAllHousekeeping();
    },
    log,
  );
  const groups = new Groups(store, countGrouped(metrics));
  const groupAll = inRounds('groups could not be updated to the last commit', (collection) =>
    groups.refresh(collection, stopping.signal),
  );
  const grouping = inBackground(
    'groups',
    sweepMilliseconds,
    async () => {
      if (!(await groupAll())) grouping.wake();
    },
    log,
    GROUPING_APART_MILLISECONDS,
  );
  // If no other process uses the store, every notification wakes this one directly.
  const committingOnRequest = store.shared
    ? inBackground('commits on request', REQUESTED_COMMIT_MILLISECONDS, commitOnRequest, log, COALESCE_MILLISECONDS)
    : undefined;
  const helping = store.shared
    ? inBackground(
        'help',
        HELP_MILLISECONDS,
        async () => {
          const done = await helpCommits(store, stopping.signal);
          for (const one of done) {
            helped.inc({ collection: one.collection }, one.shards);
            log.info(one, 'helped with a commit');
          }
          if (done.length > 0) helping?.wake();
        },
        log,
      )
    : undefined;
  const leadership = createLeadership(store, log, () => committing.wake());
  const stopListening = store.events.listen((collection) => {
    dispatch.onChange(collection);
    // Commits, and decisions about groups.
    grouping.wake();
    if (committingOnRequest === undefined) return;
    dispatching.wake();
    committingOnRequest.wake();
  });
  const analyzed = queue.work(
    'analyzed',
    async (job) => {
      await handleAnalyzed(job, context);
      dispatch.analysisEnded();
      dispatching.wake();
    },
    {
      concurrency: RESULT_CONCURRENCY,
      onFailed: ({ id }, err) => log.error({ id, err }, 'an analysis could not be stored'),
    },
  );
  dispatching.wake();

  return {
    wake: () => dispatching.wake(),
    async commit(name) {
      // By name: between two statements the collection may be dropped, created again or replaced.
      const one = (await leadership.ledCollections()).find(({ collection }) => collection.name === name);
      if (one !== undefined) return commitTimed(one);
      await findCollection(store, name);
      throw new AkinError('unavailable', `Another process commits in the collection ${name}.`);
    },
    async [Symbol.asyncDispose]() {
      stopListening();
      stopping.abort(new AkinError('unavailable', 'The indexer is shutting down; the next one continues its work.'));
      const parts = [dispatching, analyzed, committingOnRequest, committing, helping, grouping, sweeping, housekeeping];
      const timer = setInterval(() => store.engine.cancelStatements().catch(() => {}), LAST_STATEMENT_MILLISECONDS);
      await Promise.all(parts.map((part) => part?.[Symbol.asyncDispose]()));
      await Promise.all(atWork.keys());
      clearInterval(timer);
      // Last: until then the current work needs its leases.
      await leadership[Symbol.asyncDispose]();
    },
  };
}
