import { channel } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';

/** Gets all threads of one kind that this process starts from now on, the last one last. */
export function watchThreads(kind: 'pglite-thread' | 'searcher'): { readonly threads: Worker[]; end(): void } {
  const threads: Worker[] = [];
  // The constructor of a thread calls this: the stack names who starts it.
  const onThread = (message: unknown) => {
    if (new Error().stack?.includes(`/${kind}.`)) threads.push((message as { worker: Worker }).worker);
  };
  channel('worker_threads').subscribe(onThread);
  return { threads, end: () => channel('worker_threads').unsubscribe(onThread) };
}
