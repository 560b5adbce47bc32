import type { Log } from '@akin/runtime';
import type { CommitChanges } from '../config.ts';

export interface DelayedCommits {
  add(collection: string, milliseconds: number): void;
  stop(): void;
}

/**
 * Commits that were requested by `commitWithin`, one timer per collection. They exist only in this process: if it ends
 * before they are due, the automatic commit does their work.
 */
export function createDelayedCommits(commit: CommitChanges, log: Log): DelayedCommits {
  const timers = new Map<string, { due: number; timer: NodeJS.Timeout }>();
  return {
    add(collection, milliseconds) {
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
