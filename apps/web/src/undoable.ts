/** The last action, while it can be undone. */
export interface Undoable {
  readonly text: string;
  /** Undefined if it cannot be undone. */
  readonly undo: (() => Promise<void>) | undefined;
}

export type UndoOffer = Undoable & { readonly undoing: boolean };

/** Maximum number of deleted documents to keep for undo: each takes some 30 kB of the browser's memory. */
export const MAX_UNDOABLE_DOCUMENTS = 1_000;
export const UNDO_SECONDS = 60;
