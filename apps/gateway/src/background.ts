import type { Log } from '@akin/runtime';

export interface Background {
  /** Runs a task for which no request waits. It ends early when its signal aborts. Errors are logged. */
  run(name: string, task: (signal: AbortSignal) => Promise<void>): void;
  /** Aborts all tasks, and waits until they have ended. */
  stop(): Promise<void>;
}

export function createBackground(log: Log): Background {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  return {
    run(name, task) {
      const promise = task(stopping.signal)
        .catch((error: unknown) => {
          if (!stopping.signal.aborted) log.warn({ err: error }, `${name} failed`);
        })
        .finally(() => running.delete(promise));
      running.add(promise);
    },
    async stop() {
      stopping.abort(new Error('the gateway stops'));
      await Promise.all(running);
    },
  };
}
