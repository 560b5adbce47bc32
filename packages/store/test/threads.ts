import { channel } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';

/** Gets all threads that this process starts from now on, the last one last. */
export function watchThreads(): { readonly threads: Worker[]; end(): void } {
  const threads: Worker[] = [];
  const onThread = (message: unknown) => threads.push((message as { worker: Worker }).worker);
  channel('worker_threads').subscribe(onThread);
  return { threads, end: () => channel('worker_threads').unsubscribe(onThread) };
}
