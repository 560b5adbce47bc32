import type { FoundDocument } from '@akin/client';
import type { Mode } from '../mode.ts';

export interface Other {
  readonly mode: Mode;
  /** Another collection has another model, or other documents. */
  readonly collection: string;
  /** Of the colours or examples of the query, in their order. Absent: as in the query. */
  readonly weights?: readonly number[];
}

export interface SideBySide {
  readonly other: Other;
  /** Null until the first response. */
  readonly found: { readonly left: readonly FoundDocument[]; readonly right: readonly FoundDocument[] } | null;
}
