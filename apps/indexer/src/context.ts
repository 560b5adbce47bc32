import type { Queue } from '@akin/queue';
import type { Log } from '@akin/runtime';
import type { Store } from '@akin/store';

/** What the parts of the indexer work with. */
export interface Context {
  readonly store: Store;
  readonly queue: Queue;
  readonly log: Log;
}
