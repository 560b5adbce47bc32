import type { FoundDocument } from '@akin/client';
import type { Mode } from '../mode.ts';

/** What else the same query is compared with. */
export interface Other {
  readonly mode: Mode;
  /** Another collection has another model, or other documents. */
  readonly collection: string;
}

/** The first results of one query in two ways. */
export interface SideBySide {
  readonly other: Other;
  /** Null until the first response. */
  readonly found: { readonly left: readonly FoundDocument[]; readonly right: readonly FoundDocument[] } | null;
}
