import type { Queue } from '@akin/queue';
import type { Log, Metrics } from '@akin/runtime';
import type { Store } from '@akin/store/changes';

export interface Context {
  readonly store: Store;
  readonly queue: Queue;
  readonly log: Log;
  readonly queueWaits: ReturnType<Metrics['histogram']>;
}
