import type { Plain } from '@akin/client';

/** An atomic update: what one kept document takes over. */
export interface Takeover {
  readonly id: string;
  /** Its document must still exist, or the update would make one. */
  readonly _version_: 1;
  readonly [field: string]: Plain | { readonly 'add-distinct': readonly string[] } | { readonly set: Plain };
}
