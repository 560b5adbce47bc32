import type { Queue } from '@akin/queue';
import type { Log, Metrics } from '@akin/runtime';
import type { Store } from '@akin/store';

export interface Context {
  readonly store: Store;
  readonly queue: Queue;
  readonly log: Log;
  /** How long pictures waited until they were sent to the queue. */
  readonly queueWaits: ReturnType<Metrics['histogram']>;
}
