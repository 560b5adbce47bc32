import type { Calibration, FieldType, Schema } from '@akin/domain';
import type { OperationEvents } from './accept/operation-events.ts';
import type { Throttle } from './bulk/throttle.ts';
import type { Turns } from './commit/turns.ts';
import type { Engine } from './engine/engine.ts';
import type { Generation, Generations } from './generations.ts';
import type { SearchNodes } from './nodes/search-nodes.ts';
import type { Packs } from './objects/packs.ts';
import type { InMemorySearch } from './searcher/in-memory-search.ts';
import type { Standbys } from './standbys/standbys.ts';

export type { Generation, ParsedOutputs } from './generations.ts';

/** An open store, and the models of its process. The functions of this package take it as their first argument. */
export interface Store extends Generation, AsyncDisposable {
  readonly engine: Engine;
  /** From which searches are read where they can; all else is of `engine`. */
  readonly standbys: Standbys;
  /** All models that the process can use: those of a collection need not be those of the process. */
  readonly generations: Generations;
  readonly graceMilliseconds: number;
  readonly indexedFrom: number;
  readonly exactDocuments: number;
  readonly searchMilliseconds: number;
  readonly shardsFrom: number;
  /** Whether other processes use the database too. */
  readonly shared: boolean;
  readonly throttle: Throttle;
  /** Where outputs and thumbnails are kept; undefined: in the database. */
  readonly packs: Packs | undefined;
  /** How long objects stay that nothing names any more. */
  readonly objectsKeptMilliseconds: number;
  readonly inMemory: InMemorySearch;
  /** Asked about collections with several shards, instead of `inMemory`. */
  readonly nodes: SearchNodes | undefined;
  /** The number that this database gave the type `halfvec`: binary arrays name it. */
  readonly halfvecOid: number;
  /** Resolves when the database answers; rejects with `unavailable`. */
  ping(): Promise<void>;
  /** Cancels the statements of this process that are at work, as {@link Engine.cancelStatements} does. */
  cancelStatements(): Promise<void>;
  /** What this process remembers, by id of the collection. Nothing here is needed to be right, only to be quick. */
  readonly memory: {
    readonly schemas: Map<number, CollectionSchema>;
    readonly shown: Map<number, ShownCommit>;
    /** The last commit that was asked for as a search node, and is one of the database: its number and time. */
    readonly confirmed: Map<number, string>;
    /** How many documents there were. */
    readonly sizes: Map<number, bigint>;
    /** By name. */
    readonly collections: Map<string, Collection>;
    /** The day on which a use of a field was last written down. */
    readonly uses: Map<number, Map<string, string>>;
    /** Words that are in the table of words. */
    readonly words: Map<number, Set<string>>;
    readonly commits: Map<number, CommitRun>;
    /** How far failures were looked through for those that something later has made void. */
    readonly sweeps: Map<number, SweepCursor>;
    /** How often in a row a delete by query has ended the embedded database, by collection and sequence number. */
    readonly crashes: Map<string, number>;
    /** Whose turn it is among commits. */
    readonly turns: Turns;
    readonly events: OperationEvents;
  };
}

/** What a collection shows, as this process last saw it. */
export interface ShownCommit {
  /** What the collection is called. */
  readonly name: string;
  readonly commit: bigint;
  /** When it was made, as the database writes it; null where there is none. */
  readonly committedAt: string | null;
  /** Tells what it shows from anything else that it showed or will: see `MARK`. */
  readonly mark: string;
  readonly documents: bigint;
  readonly schema: CollectionSchema;
  /** How many documents have the descriptor of each module. */
  readonly descriptorCounts: ReadonlyMap<string, number>;
}

/** Commits of one collection in this process: one at work, at most one behind it. */
interface CommitRun {
  readonly running: Promise<CommitResult>;
  next?: Promise<CommitResult>;
}

export interface CommitResult {
  /** The number of the last commit: a new one if there was something to show. */
  readonly commit: number;
  /** Operations that took effect, superseded ones included. */
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
  /** What makes scores of the distances between them, by module. */
  readonly calibrations: ReadonlyMap<string, Calibration>;
}

/** Where the values of a field are. `sql` is a name as it stands in SQL, without its table. */
export type Column =
  /** A column of `documents`. */
  | { readonly kind: 'column'; readonly sql: string; readonly type: FieldType }
  /** Two columns of `documents`, both null or neither. */
  | { readonly kind: 'location'; readonly lat: string; readonly lon: string }
  /** The tsvector column of `documents`: the field `text`. */
  | { readonly kind: 'words'; readonly sql: string }
  /** Not a column: see `VERSION`. */
  | { readonly kind: 'version' }
  /** Not a column: `parseOutputs(json).fields` of the document's row in `outputs` has it. */
  | { readonly kind: 'output' };

/** One row of the registry. */
export interface Collection {
  readonly id: number;
  readonly name: string;
  /** The SQL schema that holds its tables; stands in SQL as it is. */
  readonly sqlSchema: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** The one whose place it took with all its operations, if there was one: see reindex. */
  readonly replaces?: number;
}

/** Where a sweep over the failures of a collection continues. */
export interface SweepCursor {
  readonly request: bigint;
  readonly position: number;
}
