import type { Log } from '@akin/runtime';
import type { CommitChanges } from '../config.ts';

/** One that may come later comes after this time: timers of Node.js have a maximum, beyond which they fire at once. */
const MAX_MILLISECONDS = 86_400_000;

export interface DelayedCommits {
  /** @param within milliseconds */
  add(collection: string, within: number): void;
  stop(): void;
}

/**
 * Commits that were requested by `commitWithin`, one timer per collection. They exist only in this process: if it ends
 * before they are due, the automatic commit does their work.
 */
export function createDelayedCommits(commit: CommitChanges, log: Log): DelayedCommits {
  const timers = new Map<string, { due: number; timer: NodeJS.Timeout }>();
  return {
    add(collection, within) {
      const milliseconds = Math.min(within, MAX_MILLISECONDS);
      const due = Date.now() + milliseconds;
      const earlier = timers.get(collection);
      if (earlier && earlier.due <= due) return;
      clearTimeout(earlier?.timer);
      const timer = setTimeout(() => {
        timers.delete(collection);
        commit(collection).catch((error: unknown) => log.warn({ err: error, collection }, 'commitWithin failed'));
      }, milliseconds);
      timers.set(collection, { due, timer });
    },
    stop() {
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
