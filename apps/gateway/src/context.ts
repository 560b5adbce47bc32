import type { Log } from '@akin/runtime';
import type { Store } from '@akin/store';
import type { Gate } from './access/gate.ts';
import type { KeyRing } from './access/key-ring.ts';
import type { Background } from './background.ts';
import type { Feeds } from './changes/feeds.ts';
import type { AnalyzeImage, CommitChanges, GatewayMetrics, MakeThumbnail } from './config.ts';
import type { HeldBytes } from './http/held-bytes.ts';
import type { Turnstile } from './http/turnstile.ts';
import type { GatewayLimits } from './limits.ts';
import type { Room } from './update/room.ts';

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
  /** Requests that may do something costly at a time. */
  readonly turnstiles: Readonly<Record<'searches' | 'bulkUpdates' | 'sentPictures' | 'fetchedPictures', Turnstile>>;
  /** What may still be accepted. */
  readonly room: Room;
  /** What is told of changes, for those who listen. */
  readonly feeds: Feeds;
  /** Lets requests in. */
  readonly gate: Gate;
  /** The keys of the store. */
  readonly keyRing: KeyRing;
  readonly legacySegment: string;
  readonly version: string;
}
