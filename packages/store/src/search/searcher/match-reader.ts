import { type DocNumbers, type DocSet, docSetOf } from '@akin/searcher';
import type { Transaction } from '../../database/engine/engine.ts';
import type { ValueTest } from './in-memory-columns.ts';
import type { RowSource } from './row-source.ts';

/** A filter of a search. */
export interface AskedFilter {
  /** Identifies it. Undefined: it is dropped when it is released. */
  readonly key: string | undefined;
  /** Undefined: values in memory cannot determine its matches. */
  readonly test?: ValueTest | undefined;
}

export interface MatchRequest {
  /** Position of the filter in the request. */
  readonly index: number;
  /** The commit after which documents were added; -1: any. */
  readonly after: bigint;
}

export interface MatchReader {
  /** The documents of each, in memory that threads share. @param last the greatest useful number */
  read(wanted: readonly MatchRequest[], last: number): Promise<readonly DocNumbers[]>;
  /** Where values in memory may determine the matches of filters: what reads them, later and in this search. */
  readonly values?: { readonly source: RowSource; readonly tx: Transaction } | undefined;
}

/** Whether numbers of documents fit into 4 bytes. With many shards or changes they need 8. */
const isNarrow = (last: number) => last < 2 ** 31;

/**
 * Numbers of documents up to `last` as text, as the driver returns them: a third as long as the hexadecimal form of 8
 * bytes.
 */
export function docsColumn(doc: string, last: number): string {
  const bytes = isNarrow(last) ? `int4send(${doc}::int4)` : `int8send(${doc})`;
  return `encode(string_agg(${bytes}, ''), 'base64')`;
}

/** The result of {@link docsColumn}. Null: none. */
export function readDocsColumn(text: string | null, last: number): DocNumbers {
  const bytes = Buffer.from(text ?? '', 'base64');
  if (!isNarrow(last)) {
    const docs = new Float64Array(new SharedArrayBuffer(bytes.length));
    for (let i = 0; i < docs.length; i++) docs[i] = Number(bytes.readBigInt64BE(8 * i));
    return docs;
  }
  const docs = new Uint32Array(new SharedArrayBuffer(bytes.length));
  for (let i = 0; i < docs.length; i++) docs[i] = bytes.readUInt32BE(4 * i);
  return docs;
}

/** Fewer documents are found faster by their numbers than by a scan of all rows. */
const MIN_PACKED = 4_096;

/** Documents in the form in which the searcher finds their rows fastest. */
export function packed(docs: DocNumbers): DocNumbers | DocSet {
  return (docs.length < MIN_PACKED ? undefined : docSetOf(docs)) ?? docs;
}
