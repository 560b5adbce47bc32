import type { Calibration, FieldType, Query, Schema } from '@akin/domain';
import type { OperationEvents } from './accept/operation-events.ts';
import type { Throttle } from './bulk/throttle.ts';
import type { FairSemaphore } from './commit/fair-semaphore.ts';
import type { Engine } from './engine/engine.ts';
import type { DescriptorTexts, ModelSet, ModelSets } from './model-sets.ts';
import type { InMemorySearch } from './searcher/in-memory-search.ts';
import type { Standbys } from './standbys/standbys.ts';

export type { ModelSet, ParsedOutputs } from './model-sets.ts';

/** An open store, and the models of its process. The functions of this package take it as their first argument. */
export interface Store extends ModelSet, AsyncDisposable {
  readonly engine: Engine;
  /** Searches are read from these if possible. Everything else uses `engine`. */
  readonly standbys: Standbys;
  /** All models that the process can use: those of a collection may differ from the default ones of the process. */
  readonly modelSets: ModelSets;
  readonly descriptorTexts: DescriptorTexts;
  readonly graceMilliseconds: number;
  readonly indexedFrom: number;
  readonly exactDocuments: number;
  readonly searchMilliseconds: number;
  readonly defaultModules: readonly string[] | undefined;
  readonly shardsFrom: number;
  /** Set for the requests of a key with a filter: what reads or changes documents is limited to those inside. */
  readonly keyFilter?: KeyFilter;
  /** Whether other processes use the database too. */
  readonly shared: boolean;
  readonly throttle: Throttle;
  readonly inMemory: InMemorySearch;
  /** Resolves if the database answers. Rejects with `unavailable`. */
  ping(): Promise<void>;
  /** Caches of this process, by id of the collection. They only serve speed, never correctness. */
  readonly memory: {
    readonly schemas: Map<number, CollectionSchema>;
    readonly visibleCommits: Map<number, VisibleCommit>;
    /** By name. */
    readonly collections: Map<string, Collection>;
    /** The day on which a use of a field was last recorded. */
    readonly uses: Map<number, Map<string, string>>;
    /** Words that are known to be in the table of words. */
    readonly words: Map<number, Set<string>>;
    readonly commits: Map<number, CommitRun>;
    /** How far failures were checked for those that a later change has made void. */
    readonly sweeps: Map<number, SweepCursor>;
    /** How often in a row a delete by query has crashed the embedded database, by collection and sequence number. */
    readonly crashes: Map<string, number>;
    readonly commitSemaphore: FairSemaphore;
    readonly events: OperationEvents;
  };
}

/** What a key with a filter may see and change: a part of each collection. */
export interface KeyFilter {
  /** A document is inside if it matches all of them. */
  readonly queries: readonly Query[];
  readonly texts: readonly string[];
  /** The fields that each document it writes gets. Undefined: it may not write. */
  readonly set: ReadonlyMap<string, string> | undefined;
  /** NOW in the queries, and its time zone. A request cannot change them. */
  readonly clock: { readonly now: Date; readonly timeZone: string };
}

/** The visible state of a collection, as this process last read it. */
export interface VisibleCommit {
  readonly name: string;
  readonly commit: bigint;
  /** Distinguishes this state from all earlier and later ones: see `FINGERPRINT`. */
  readonly fingerprint: string;
  readonly documents: bigint;
  readonly schema: CollectionSchema;
  /** Number of documents with the descriptor of each module. */
  readonly descriptorCounts: ReadonlyMap<string, number>;
}

/** Commits of one collection in this process: one running, and at most one waiting. */
interface CommitRun {
  readonly running: Promise<CommitResult>;
  next?: Promise<CommitResult>;
}

export interface CommitResult {
  /** The number of the last commit. It is a new one if there was something to publish. */
  readonly commit: number;
  /** Number of published operations, including superseded ones. */
  readonly applied: number;
  readonly failed: number;
}

/** The fields of a collection and where they are stored, as of one schema version. */
export interface CollectionSchema {
  readonly version: number;
  readonly fields: Schema;
  readonly columns: ReadonlyMap<string, Column>;
  /** The model that made its descriptors, by module. */
  readonly models: ReadonlyMap<string, string>;
  /** The calibration of the distances between them, by module. */
  readonly calibrations: ReadonlyMap<string, Calibration>;
}

/** Where the values of a field are stored. `sql` is the name of a column in SQL. */
export type Column =
  /** A column of `documents`. */
  | { readonly kind: 'column'; readonly sql: string; readonly type: FieldType }
  /** A `bytea` column of `documents`: the value is its base64. */
  | { readonly kind: 'bytes'; readonly sql: string }
  /** Two columns of `documents`. Either both are null or none is. */
  | { readonly kind: 'location'; readonly lat: string; readonly lon: string }
  /** The tsvector column of `documents`: the field `text`. */
  | { readonly kind: 'words'; readonly sql: string }
  /** Not a column: see `VERSION`. */
  | { readonly kind: 'version' }
  /** Not a column: one of the {@link DescriptorTexts} of a module. */
  | { readonly kind: 'output'; readonly module: string };

/** A collection, with its fields as of one version. */
export interface CollectionContext {
  readonly store: Store;
  readonly collection: Collection;
  readonly schema: CollectionSchema;
}

export interface Collection {
  readonly id: number;
  readonly name: string;
  /** The SQL schema with its tables, for use in SQL unquoted. */
  readonly sqlSchema: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** The collection that it replaced with all its operations, if any: see reindex. */
  readonly predecessor?: number;
}

/** Where housekeeping of the failures of a collection continues. */
export interface SweepCursor {
  readonly request: bigint;
  readonly position: number;
}
