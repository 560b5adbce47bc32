import type { Log } from '@akin/runtime';
import type { Store } from '@akin/store';
import type { Background } from './background.ts';
import type { AnalyzeImage, CommitChanges, GatewayMetrics, MakeThumbnail } from './config.ts';
import type { HeldBytes } from './http/held-bytes.ts';
import type { GatewayLimits } from './limits.ts';

/** What handlers work with. */
export interface Context {
  readonly store: Store;
  readonly analyze: AnalyzeImage;
  readonly makeThumbnail: MakeThumbnail;
  readonly commit: CommitChanges;
  /** Resolves when requests can be served; rejects with what is in the way. */
  readonly ready: () => Promise<void>;
  readonly wake: () => void;
  /** Commits a collection after so many milliseconds, unless the gateway stops before. */
  readonly commitLater: (collection: string, milliseconds: number) => void;
  /** Runs what nobody waits for, until the gateway stops. */
  readonly background: Background['run'];
  readonly log: Log;
  readonly metrics: GatewayMetrics;
  readonly limits: GatewayLimits;
  /** Counts the bytes of bodies that are in memory, over all requests. */
  readonly heldBytes: HeldBytes;
  readonly legacySegment: string;
  readonly version: string;
}
