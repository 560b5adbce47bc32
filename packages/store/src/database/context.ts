import type { Calibration, FieldType, Schema } from '@akin/domain';
import type { Engine } from './engine/engine.ts';
import type { Throttle } from './engine/throttle.ts';
import type { Memory } from './memory.ts';
import type { DescriptorTexts, ModelSet, ModelSets } from './model-sets.ts';
import type { Standbys } from './standbys/standbys.ts';

/** An open database, and the models of its process. The functions of this layer take it as their first argument. */
export interface Database extends ModelSet {
  readonly engine: Engine;
  /** Searches are read from these if possible. Everything else uses `engine`. */
  readonly standbys: Standbys;
  /** All models that the process can use: those of a collection may differ from the default ones of the process. */
  readonly modelSets: ModelSets;
  readonly descriptorTexts: DescriptorTexts;
  readonly searchMilliseconds: number;
  readonly defaultModules: readonly string[] | undefined;
  /** Whether other processes use the database too. */
  readonly shared: boolean;
  readonly throttle: Throttle;
  /** Resolves if the database answers. Rejects with `unavailable`. */
  ping(): Promise<void>;
  readonly memory: Memory;
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

export interface Collection {
  readonly id: number;
  readonly name: string;
  /** The SQL schema with its tables, for use in SQL unquoted. */
  readonly sqlSchema: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** The collection that it replaced with all its operations, if any: see reindex. */
  readonly predecessor?: number;
}
