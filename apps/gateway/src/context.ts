import type { Log, Semaphore } from '@akin/runtime';
import type { KeyRing } from '@akin/store/search';
import type { Gate } from './access/gate.ts';
import type { BacklogQuota } from './admission/backlog-quota.ts';
import type { GatewayLimits } from './admission/limits.ts';
import type { Semaphores } from './admission/semaphores.ts';
import type { Background } from './background.ts';
import type { Feeds } from './changes/feeds.ts';
import type { GatewayMetrics, Parts } from './config.ts';
import type { Drain } from './http/drain.ts';
import type { Files } from './http/pictures.ts';

export interface SharedContext extends Parts {
  /** Resolves if the process can do its work. Otherwise rejects with the reason. */
  readonly ready: () => Promise<void>;
  /** As `ready`, but only for requests over HTTP. */
  readonly httpReady: () => Promise<void>;
  readonly drain: Drain;
  /** Commits a collection after a delay in milliseconds, unless the gateway stops before. */
  readonly scheduleCommit: (collection: string, milliseconds: number) => void;
  readonly background: Background['run'];
  readonly log: Log;
  readonly metrics: GatewayMetrics;
  readonly limits: GatewayLimits;
  readonly memoryBudget: Semaphore;
  readonly semaphores: Semaphores;
  readonly backlogQuota: BacklogQuota;
  /** Streams of operations. */
  readonly feeds: Feeds;
  readonly gate: Gate;
  readonly keyRing: KeyRing;
  readonly legacySegment: string;
  readonly version: string;
}

/** What handlers work with. */
export interface Context extends SharedContext {
  /** The client, for its share of limited resources: a key or an address. Undefined for akin itself. */
  readonly client: string | undefined;
  /** Pictures that were sent as bytes with the request. */
  readonly files: Files;
}
