/** Matches that have to be read. */
export interface WantedMatches {
  /** Of the filter, in what was asked for. */
  readonly index: number;
  /** The commit after which documents came; -1: any. */
  readonly after: bigint;
  /** Whether the documents are wanted that do not match. */
  readonly isComplement: boolean;
}

/** Reads what filters match, of those that are asked for. */
export interface MatchReader {
  /** Whether most documents match a filter, by the database's guess. */
  isMost(index: number): Promise<boolean>;
  /** The documents of each, as `int8send(doc)`, one after the other. */
  read(wanted: readonly WantedMatches[]): Promise<readonly Uint8Array[]>;
}
