import type { AkinError } from '@akin/domain';
import type { Log, Metrics } from '@akin/runtime';
import type { Store } from '@akin/store';
import type { AccessConfig } from './access/gate.ts';
import type { GatewayLimits } from './admission/limits.ts';

/** What one analysis yields. */
export interface Analysis {
  /** JSON text with the keys of all modules that ran. */
  readonly outputs: string;
  /** A WebP of at most 256 px, if it was asked for. */
  readonly thumbnail?: Uint8Array;
  /** What the person who asks should know. */
  readonly warnings?: readonly string[];
}

/**
 * Analyzes one picture, or words by a content model that knows them. In one process this is the pool of worker threads behind the guarded download; in a fleet an
 * analyzer over HTTP. The gateway itself runs no model and fetches nothing.
 *
 * @throws AkinError unsupported-image, image-unreachable, image-undecodable, too-large, unavailable; conflict where
 * nobody has the model
 */
export type AnalyzeImage = (
  input: { readonly bytes: Uint8Array } | { readonly url: string } | { readonly text: string },
  modules: readonly string[],
  options: {
    /** A person waits: go before bulk work. */
    readonly urgent: boolean;
    readonly thumbnail?: boolean;
    /** Of content, as outputs name it; that of the process when not given. */
    readonly model?: string | undefined;
    readonly signal?: AbortSignal;
  },
) => Promise<Analysis>;

/**
 * The WebP of at most 256 px that is kept of a picture which came as a document's thumbnail.
 *
 * @throws AkinError unsupported-image, image-undecodable, too-large
 */
export type MakeThumbnail = (bytes: Uint8Array) => Promise<Uint8Array>;

/** Publishes what is ready in a collection; resolves when searches see it. */
export type CommitChanges = (collection: string) => Promise<unknown>;

/** What the gateway needs of the figures of its process. */
export type GatewayMetrics = Pick<Metrics, 'request' | 'search' | 'text'>;

/** A picture file of a folder that this akin indexed. */
export interface Original {
  readonly size: number;
  readonly modified: Date;
  /** Another one after each change of the file. */
  readonly version: string;
  /** By content. */
  readonly type: string;
  /** The bytes from `start` to `end`, both included. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
  /** @throws AkinError image-undecodable, too-large */
  webp(signal: AbortSignal): Promise<Uint8Array>;
}

/**
 * Finds the file of a document below the folder that it names, if this akin indexed that folder and the file lies in it
 * with all links resolved.
 *
 * @throws AkinError unsupported-image when the file is no picture any more
 */
export type OpenOriginal = (source: string, id: string) => Promise<Original | undefined>;

/**
 * Finds candidates for a search in some shards, as a search node: question and answer are texts of `@akin/store`.
 *
 * @throws AkinError bad-request, not-found, unavailable
 */
export type FindCandidates = (
  question: string,
  asking: { readonly shards: readonly number[]; readonly patience: number; readonly signal: AbortSignal },
) => Promise<string>;

export interface GatewayConfig {
  readonly store: Store;
  readonly analyze: AnalyzeImage;
  readonly makeThumbnail: MakeThumbnail;
  readonly commit: CommitChanges;
  /** Called when operations were accepted that wait for analysis or a commit. */
  readonly wake: () => void;
  /** Without it there are no originals. */
  readonly openOriginal?: OpenOriginal;
  /** Indexes the files again that failed in a run. Returns false if this process did not do the run. */
  readonly retryRun?: (run: string) => boolean;
  readonly log: Log;
  readonly metrics: GatewayMetrics;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0 (the default) takes any free port. */
  readonly port?: number;
  /** Keys and rates. Beyond loopback everybody needs a key. */
  readonly access?: AccessConfig;
  /** Lets any machine in that can connect, also without a key. */
  readonly allowOpenNetwork?: boolean;
  /** Further names in Host that are served where no key is required, besides those of this machine. */
  readonly allowedHosts?: readonly string[];
  /** Origins whose pages may call akin; `*` for any. Default none. */
  readonly corsOrigins?: readonly string[];
  /** The second prefix of all endpoints below `/api/cores`. Default `solr`. */
  readonly legacySegment?: string;
  /** Folder of the built web page, served at `/`. */
  readonly webFolder?: string;
  readonly version?: string;
  /** At shutdown it keeps serving for this time, so that load balancers notice. Default 0. */
  readonly shutdownDelayMilliseconds?: number;
  readonly limits?: Partial<GatewayLimits>;
}

/** The HTTP server of a process without a store. */
export interface WorkerServerConfig
  extends Omit<
    GatewayConfig,
    'store' | 'analyze' | 'makeThumbnail' | 'commit' | 'wake' | 'retryRun' | 'openOriginal' | 'webFolder'
  > {
  /** Given, `/analyze` is served. */
  readonly analyze?: AnalyzeImage;
  /** Given, the process is a search node. */
  readonly findCandidates?: FindCandidates;
  /** Rejects with AkinError unavailable, whose message says why, while the process cannot do its work. */
  readonly ready: () => Promise<void>;
  /** The same for requests alone; `ready` when not given. */
  readonly answers?: () => Promise<void>;
  /** The error at all other addresses. Default: not-found. */
  readonly fallback?: () => AkinError;
}
