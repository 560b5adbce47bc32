import type { ModelSummary } from '@akin/contract';
import { AkinError, type Region } from '@akin/domain';
import type { Log, Metrics } from '@akin/runtime';
import type { Store } from '@akin/store/changes';
import type { FilePlace } from '@akin/store/search';
import type { AccessConfig } from './access/gate.ts';
import type { GatewayLimits } from './admission/limits.ts';

/** The result of one analysis. */
export interface Analysis {
  /** JSON text with the keys of all modules that ran. */
  readonly outputs: string;
  /** A WebP of at most 256 px, if it was asked for. */
  readonly thumbnail?: Uint8Array;
  /** Fields of a document that the file says, if they were asked for: size, date, camera, place, words. */
  readonly fields?: Readonly<Record<string, string | number>>;
  readonly warnings?: readonly string[];
}

/**
 * Analyzes one picture, or words if the content model supports them. In one process this is the pool of worker threads
 * after the guarded download; in a fleet it is an analyzer over HTTP. The gateway itself runs no model and fetches
 * nothing.
 *
 * @throws AkinError unsupported-image, image-unreachable, image-undecodable, too-large, unavailable; conflict if no
 * analyzer has the model
 */
export type AnalyzeImage = (
  input: { readonly bytes: Uint8Array } | { readonly url: string } | { readonly text: string },
  modules: readonly string[],
  options: AnalyzeOptions,
) => Promise<Analysis>;

export interface AnalyzeOptions {
  /** A client waits: the analysis goes before bulk work. */
  readonly urgent: boolean;
  readonly thumbnail?: boolean;
  /** Also read the fields. The name of the file may contain a date. */
  readonly facts?: { readonly name?: string | undefined } | undefined;
  /** Content model, as outputs name it. Default: that of the process. */
  readonly model?: string | undefined;
  /** Only this part of the picture. */
  readonly region?: Region | undefined;
  /** Find more points than are stored, for a search for parts. */
  readonly soughtPoints?: boolean | undefined;
  readonly signal?: AbortSignal;
}

/**
 * The WebP of at most 256 px that is stored for a picture that came as the thumbnail of a document.
 *
 * @throws AkinError unsupported-image, image-undecodable, too-large
 */
type MakeThumbnail = (bytes: Uint8Array) => Promise<Uint8Array>;

/** Commits what is ready in a collection. Resolves when searches see it. */
export type CommitChanges = (collection: string) => Promise<unknown>;

export type GatewayMetrics = Pick<Metrics, 'request' | 'search' | 'text'>;

/** A picture file in a folder that this akin indexed. */
export interface Original {
  readonly size: number;
  readonly modified: Date;
  /** Changes with each change of the file. */
  readonly version: string;
  /** Determined by the content. */
  readonly type: string;
  /** The bytes from `start` to `end`, inclusive. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
  /** @throws AkinError image-undecodable, too-large */
  webp(signal: AbortSignal): Promise<Uint8Array>;
  /**
   * Analyzes it as when its folder is indexed: the memory for pictures decides how large it may be, not the limits for
   * what clients send.
   *
   * @throws AkinError as {@link AnalyzeImage}
   */
  analyze(modules: readonly string[], options: Omit<AnalyzeOptions, 'facts'>): Promise<Pick<Analysis, 'outputs'>>;
}

/** The files of documents that this akin indexed from folders. */
export interface Originals {
  /**
   * Finds the file that a document names, if this akin indexed its folder into the collection, and the file is inside
   * after all links are resolved. Anybody who can write documents can name a file, but not tell what it contains.
   *
   * @throws AkinError not-found if the file contains something else now; unsupported-image if it is no picture
   */
  open(document: FilePlace & { readonly collection: string }): Promise<Original | undefined>;
  /** Forgets the folders of a collection, before it is dropped. */
  forget(collection: string): Promise<void>;
}

/** The content models of this machine. */
export interface Models {
  list(): Promise<readonly ModelSummary[]>;
  /** Why nothing can be downloaded; undefined if it can. */
  readonly refusal: string | undefined;
  /** Starts a download, unless it is in progress. @throws AkinError not-found for an unknown name, conflict */
  pull(name: string): void;
  /** Stops a download, which can be continued. Resolves when it has ended. @throws AkinError not-found */
  stop(name: string): Promise<void>;
}

export const NO_MODELS: Models = {
  list: async () => [],
  refusal: 'This process has no folder of models.',
  pull: () => {
    throw new AkinError('conflict', 'This process has no folder of models.');
  },
  stop: async () => {
    throw new AkinError('not-found', 'No model is being downloaded here.');
  },
};

/** For a process that indexes no folders. */
export const NO_ORIGINALS: Originals = { open: async () => undefined, forget: async () => {} };

/** What the handlers of a gateway work with. Who passes them closes them. */
export interface Parts {
  readonly store: Store;
  readonly analyze: AnalyzeImage;
  readonly makeThumbnail: MakeThumbnail;
  readonly commit: CommitChanges;
  /** Called when operations were accepted that wait for analysis or a commit. */
  readonly wake: () => void;
  readonly originals: Originals;
  readonly models: Models;
  /** Indexes the files again that failed in a run. Returns false if another process did the run. */
  readonly retryRun: (run: string) => boolean;
}

/** Settings of any HTTP server of akin. */
export interface ServerConfig {
  readonly log: Log;
  readonly metrics: GatewayMetrics;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0 (the default) chooses a free port. */
  readonly port?: number;
  /** Keys and rates. Beyond loopback every client needs a key. */
  readonly access?: AccessConfig;
  /** Allows every machine that can connect, also without a key. */
  readonly allowOpenNetwork?: boolean;
  /** Further accepted names in Host if no key is required, in addition to those of this machine. */
  readonly allowedHosts?: readonly string[];
  /** Origins whose pages may call akin; `*` allows any. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** The second prefix of all endpoints below `/api/cores`. Default `solr`. */
  readonly legacySegment?: string;
  readonly version?: string;
  /** At shutdown, it keeps serving for this time, so that load balancers notice. Default 0. */
  readonly shutdownDelayMilliseconds?: number;
  readonly limits?: Partial<GatewayLimits>;
}

type Optional = 'originals' | 'models' | 'retryRun';

export interface GatewayConfig extends ServerConfig, Omit<Parts, Optional>, Partial<Pick<Parts, Optional>> {
  /** Folder of the built web page, served at `/`. */
  readonly webFolder?: string;
}

/** The HTTP server of a process without a store. */
export interface WorkerServerConfig extends ServerConfig {
  /** If given, `/analyze` is served. */
  readonly analyze?: AnalyzeImage;
  /** Rejects with AkinError unavailable, whose message says why, while the process cannot do its work. */
  readonly ready: () => Promise<void>;
  /** As `ready`, but only for requests over HTTP. Default: `ready`. */
  readonly httpReady?: () => Promise<void>;
  /** The error at all other paths. Default: not-found. */
  readonly fallback?: () => AkinError;
}
