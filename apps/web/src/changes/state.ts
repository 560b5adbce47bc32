import type { Operation } from '@akin/client';

/** Pending and failed changes, as far as the page has loaded them. */
export interface Changes {
  readonly failed: readonly Operation[];
  readonly nextCursor: string | undefined;
  readonly open: readonly Operation[];
  /** Null until the first response. */
  readonly loadedAt: number | null;
  readonly retrying: ReadonlySet<string>;
}

export const NO_CHANGES: Changes = {
  failed: [],
  nextCursor: undefined,
  open: [],
  loadedAt: null,
  retrying: new Set(),
};
