import type { Queue } from '@akin/queue';
import type { Log, Metrics } from '@akin/runtime';
import type { Store } from '@akin/store';

/** What the parts of the indexer work with. */
export interface Context {
  readonly store: Store;
  readonly queue: Queue;
  readonly log: Log;
  /** How long pictures waited to be handed out. */
  readonly waits: ReturnType<Metrics['histogram']>;
}
