/** What was done last, for as long as it can be undone. */
export interface Undoable {
  /** What was done. */
  readonly text: string;
  /** Undefined: it cannot be undone. */
  readonly undo: (() => Promise<void>) | undefined;
}

export type ShownUndoable = Undoable & { readonly undoing: boolean };

/** Some 30 kB each stay in the memory of the browser. */
export const MOST_KEPT = 1_000;
export const KEPT_SECONDS = 10;
