/** The last action, while it can be undone. */
export interface Undoable {
  /** Description of the action. */
  readonly text: string;
  /** Undefined if it cannot be undone. */
  readonly undo: (() => Promise<void>) | undefined;
}

export type ShownUndoable = Undoable & { readonly undoing: boolean };

/** Maximum number of deleted documents to keep for undo: each takes some 30 kB of the browser's memory. */
export const MAX_KEPT = 1_000;
export const KEPT_SECONDS = 10;
