import type { Queue } from '@akin/queue';
import type { Log, Metrics } from '@akin/runtime';
import { type CommitResult, commit, findCollection, listCollections, type Store } from '@akin/store';
import { handleAnalyzed } from './analyzed.ts';
import { inBackground } from './background.ts';
import { dispatchAnalyses } from './dispatch.ts';
import { sweep } from './sweep.ts';

export interface IndexerConfig {
  readonly store: Store;
  readonly queue: Queue;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How often what is ready becomes visible by itself. 15,000 when not given. */
  readonly autoCommitMilliseconds?: number;
  /** How often lost analyses are looked for and old rows are removed. 10,000 when not given. */
  readonly sweepMilliseconds?: number;
}

/** Takes accepted changes to where searches see them. Disposing ends what is at work; nothing accepted is lost. */
export interface Indexer extends AsyncDisposable {
  /** Tells that changes were accepted, which would be noticed a second later anyway. */
  wake(): void;
  /**
   * Makes what is ready visible now. Calls at the same time share a commit.
   * @throws AkinError not-found
   */
  commit(collection: string): Promise<CommitResult>;
}

/** Other processes accept changes too, and do not wake this one; images wait for their next attempt. */
const DISPATCH_MILLISECONDS = 1_000;
const ANALYZED_AT_A_TIME = 4;

/** Starts to dispatch analyses, keep their results, commit and sweep. */
export function createIndexer(config: IndexerConfig): Indexer {
  const { store, queue, log, metrics, autoCommitMilliseconds = 15_000, sweepMilliseconds = 10_000 } = config;
  const context = { store, queue, log };
  const commits = metrics.histogram('akin_commit_seconds', 'Time of a commit that showed something');
  metrics.gauge('akin_analyses_waiting', 'Analyses that wait in the queue', async () => {
    const { waiting, delayed } = await queue.counts('analyze');
    return waiting + delayed;
  });

  async function commitTimed(collection: Parameters<typeof commit>[1]): Promise<CommitResult> {
    const from = performance.now();
    const result = await commit(store, collection);
    if (result.applied > 0 || result.failed > 0) {
      const milliseconds = Math.round(performance.now() - from);
      commits.observe(milliseconds / 1000);
      log.info({ collection: collection.name, ...result, milliseconds }, 'committed');
    }
    return result;
  }

  async function commitAll(): Promise<void> {
    for (const collection of await listCollections(store)) {
      // One that cannot be committed keeps no other from it.
      await commitTimed(collection).catch((err) => log.error({ err, collection: collection.name }, 'commit failed'));
    }
  }

  const dispatching = inBackground('dispatch', DISPATCH_MILLISECONDS, () => dispatchAnalyses(context), log);
  const committing = inBackground('commit', autoCommitMilliseconds, commitAll, log);
  const sweeping = inBackground(
    'sweep',
    sweepMilliseconds,
    async () => {
      if ((await sweep(context)) > 0) dispatching.wake();
    },
    log,
  );
  const analyzed = queue.work(
    'analyzed',
    async (job) => {
      await handleAnalyzed(job, context);
      dispatching.wake();
    },
    { concurrency: ANALYZED_AT_A_TIME, onFailed: ({ id }, err) => log.error({ id, err }, 'an analysis was not kept') },
  );
  dispatching.wake();

  return {
    wake: () => dispatching.wake(),
    commit: async (name) => commitTimed(await findCollection(store, name)),
    async [Symbol.asyncDispose]() {
      for (const part of [dispatching, analyzed, committing, sweeping]) await part[Symbol.asyncDispose]();
    },
  };
}
