import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { inSpan, unlessAborted } from '@akin/runtime';
import { hostPatience, lastOperation, type Operation, type SeqRange, waitForOperations } from '@akin/store/changes';
import type { Collection } from '@akin/store/database';
import type { Context } from '../context.ts';
import type { CommitCommand } from './read-commands.ts';

/** What to do after the changes are accepted, from parameters and commands. */
export interface CommitPlan {
  /** Commit what is ready. */
  readonly publish: boolean;
  /** Answer only after the commit is visible. */
  readonly wait: boolean;
  /** Wait for all changes that were accepted before, not only for those of this request. */
  readonly waitAnalysis: boolean;
  readonly withinMilliseconds: number | undefined;
}

export function planCommit(
  parameters: ParametersOf<Endpoints['update']>,
  commits: readonly CommitCommand[],
): CommitPlan {
  const { commit, softCommit, optimize, openSearcher, waitSearcher, waitAnalysis, commitWithin } = parameters;
  const now = commits.filter((command) => command.within === undefined);
  const times = [commitWithin, ...commits.map((command) => command.within)].filter((time) => time !== undefined);
  // Solr's clients send -1 for "not requested".
  const within = times.filter((time) => time >= 0);
  return {
    publish:
      softCommit ||
      (openSearcher && (commit || optimize)) ||
      now.some((command) => command.openSearcher ?? openSearcher),
    wait: waitSearcher && now.every((command) => command.waitSearcher !== false),
    waitAnalysis,
    withinMilliseconds: within.length > 0 ? Math.min(...within) : undefined,
  };
}

/**
 * Waits until the operations of a request are analyzed, then commits as planned.
 *
 * @param options.isWaitedFor whether a client waits, and hosts that do not deliver are given up soon. Default: true
 * @returns the operations that failed. The others are accepted anyway, and committed if that was requested.
 * @throws AkinError unavailable if the analyses take too long: they continue, and the message says how to follow them
 */
export async function finishUpdate(
  collection: Collection,
  range: SeqRange,
  plan: CommitPlan,
  signal: AbortSignal,
  context: Context,
  { isWaitedFor = true }: { readonly isWaitedFor?: boolean } = {},
): Promise<Operation[]> {
  const tooLate = AbortSignal.timeout(context.limits.analysisWaitMilliseconds);
  const either = AbortSignal.any([signal, tooLate]);
  try {
    const failed = await inSpan('wait for analyses', {}, async () => {
      const patience = isWaitedFor ? { onPoll: hostPatience(context.store, range, context.limits.hostPatience) } : {};
      const own = await waitForOperations(context.store, collection, range, { ...patience, signal: either });
      if (plan.publish && plan.waitAnalysis) {
        const all = { first: 1, last: await lastOperation(context.store, collection) };
        await waitForOperations(context.store, collection, all, { signal: either });
      }
      return own;
    });
    if (!plan.publish) return failed;
    const published = inSpan('publish', {}, async () => context.commit(collection.name));
    if (!plan.wait) {
      context.background('a commit', async () => void (await published));
      return failed;
    }
    await unlessAborted(published, either);
    // A commit may still find that the database cannot store a document.
    return await waitForOperations(context.store, collection, range, { signal: either });
  } catch (error) {
    const isShuttingDown = error === signal.reason && error instanceof AkinError && error.code === 'unavailable';
    if (!isShuttingDown && (!tooLate.aborted || error instanceof AkinError)) throw error;
    const [why, otherwise] = isShuttingDown
      ? ['akin is shutting down', '']
      : ['the analyses take long', ', or send async=true'];
    throw new AkinError(
      'unavailable',
      `All changes are accepted, but ${why}: follow them at /api/cores/${collection.name}/operations${otherwise}.`,
    );
  }
}
