/* The types of documents in results. */

/** Fields that every document can have, in addition to those of its type. */
export interface CommonFields {
  id: string;
  image?: string;
  labels?: string[];
  /** `lat,lon` */
  location?: string;
  /** Number of the change that stored the document. */
  _version_?: number;
}

/** What the analysis of a picture computes, and results contain if it is named. */
export interface OutputFields {
  color_palette_hex?: string[];
  color_palette_freq?: number[];
  color_names?: string[];
  color_isolated?: boolean;
  copyspace?: number[];
  [code: `${string}_rerank` | `${string}_cluster`]: number | string | undefined;
  [text: `${string}_descriptor` | `${string}_lopq` | `${string}_nclusters`]: string | undefined;
}

/**
 * Names of fields that a result can contain. `*` stands for all fields of the document, without the outputs of the
 * analysis.
 */
export type FieldName<Doc> = (keyof Stored<Doc> & string) | keyof CommonFields | (keyof OutputFields & string) | '*';

/** A stored document: dates and URLs come back as text, and what only the analysis needs does not come back. */
export type Stored<Doc> = {
  [Name in keyof Doc as Exclude<Name, 'import' | 'thumbnail'>]: StoredValue<Doc[Name]>;
};

type StoredValue<Value> = Value extends Date | URL ? string : Value extends bigint ? number | string : Value;

/** A document in a result: its id, and its fields with these names. */
export type Found<Doc, Name extends string = '*'> = { id: string } & Pick<
  Stored<Doc>,
  ('*' extends Name ? keyof Stored<Doc> : never) | (keyof Stored<Doc> & Name)
> &
  Pick<CommonFields & OutputFields, Exclude<Extract<Name, keyof CommonFields | keyof OutputFields>, keyof Doc>>;

/** A document in the result of a search that compares pictures. */
export type Ranked<Doc, Name extends string = '*'> = Found<Doc, Name> & {
  /** 0 to 1; 1 is the same picture. */
  score: number;
};

/** A document in the result of a search; the score is there if the search has words and no `sort`. */
export type Matched<Doc, Name extends string = '*'> = Found<Doc, Name> & { score?: number };
