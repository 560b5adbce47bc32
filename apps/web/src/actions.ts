import type { FoundDocument, NewKey, PartPair } from '@akin/client';
import type { LocalFile } from './add/files.ts';
import type { Layout } from './grid/rows.ts';
import type { Mode } from './mode.ts';
import type { ShownRequest } from './request/shown-request.ts';
import type { Comparison } from './review/comparison.ts';
import type { KeepRule } from './review/keep.ts';
import type { Other } from './side-by-side/state.ts';
import type { Example, Query } from './view-state.ts';

export interface SearchActions {
  searchBy(query: Query | null, mode?: Mode): void;
  setMode(mode: Mode): void;
  /** Handles the text of the search box: words, a colour, or the URL of a picture. */
  setWords(words: string): void;
  /** Adds a document as a positive or negative example of the search, or removes it. */
  setExample(id: string, sign: Example['sign'] | null): void;
  /** Searches for words, even if they could be the name of a colour. */
  searchByText(words: string, where?: 'both' | 'look' | 'text'): void;
  setThreshold(minScore: number): void;
  saveSearch(): Promise<void>;
  forgetSearch(name: string): void;
  /** Shows documents that are new since the results were loaded. */
  showFresh(): void;
  /** Asks an akin that did not answer once more. */
  askAgain(): void;
  addFilter(filter: string): void;
  removeFilter(filter: string): void;
  setFilters(filters: readonly string[]): void;
  /** Opens the others with the same value, of which a document is shown alone. */
  showOthers(document: FoundDocument): void;
  /** @param sort the sort in the form of akin's parameter; empty: the nearest, or the best matches for words, first */
  setOrder(sort: string): void;
  /** Lists more values of a field that contain a text; null: only the most frequent values. */
  findValues(field: string, contains: string | null): void;
  /** Compares the query with itself in another mode or collection; null hides that. */
  compareWith(other: Other | null): void;
  /** Shows the request of the results in one form; null hides it. */
  showRequest(form: ShownRequest['form'] | null): void;
  searchBySelected(): void;
  /** Asks for a part of a document's picture, or of that of the query, and searches with it. */
  searchPart(document?: FoundDocument): Promise<void>;
  upload(file: Blob): Promise<void>;
}

export interface DocumentActions {
  select(id: string, how: { readonly range: boolean }): void;
  clearSelection(): void;
  deleteSelected(): Promise<void>;
  restoreSelected(): Promise<void>;
  emptyTrash(): Promise<void>;
  labelSelected(): Promise<void>;
  copySelected(): Promise<void>;
  undo(): Promise<void>;
  forgetUndo(): void;
  pauseUndoTimer(): void;
  restartUndoTimer(): void;
  open(document: FoundDocument | null): void;
  editTitle(document: FoundDocument): Promise<void>;
  editField(document: FoundDocument, field: string): Promise<void>;
  /** Without a label, asks for it. */
  addLabel(document: FoundDocument, label?: string): Promise<void>;
  removeLabel(document: FoundDocument, label: string): Promise<void>;
  deleteOpened(document: FoundDocument): Promise<void>;
  /** From the trash. */
  restoreOpened(document: FoundDocument): Promise<void>;
  download(document: FoundDocument): Promise<void>;
  step(by: 1 | -1): Promise<void>;
}

export interface ReviewActions {
  reviewGroups(): void;
  markForDeletion(ids: readonly string[], chosen: boolean): void;
  /** Marks all members for deletion except the one to keep, in one group or in all. */
  markAllExcept(keep: KeepRule, group?: string): Promise<void>;
  /** Says that the members of a group are different pictures. */
  markAsDifferent(group: string): Promise<void>;
  markPairAsDifferent(pair: PartPair): Promise<void>;
  loadMorePairs(): Promise<void>;
  setMinScore(score: number): void;
  /** Shows members of a group one after another in the same place. */
  compare(compared: Comparison | null): void;
  loadMoreMembers(group: string): Promise<void>;
  askForDelete(): void;
  /** Called when the question was answered. */
  answered(): void;
  /** @param isMerging whether the kept documents take over labels and fields of the deleted ones */
  deleteMarked(isMerging: boolean): Promise<void>;
}

export interface ViewActions {
  showCollection(name: string): void;
  showHelp(): void;
  setLayout(layout: Layout): void;
  setCardFields(names: readonly string[]): void;
  setCurrent(id: string | null): void;
  showFacets(shown: boolean): void;
  showMenu(shown: boolean): void;
  loadMore(): void;
  showChanges(): void;
  showManage(): void;
  /** @param contentModel the name of its model; undefined: the default one */
  createCollection(name: string, contentModel?: string): void;
  pullModel(name: string): void;
  stopPull(name: string): void;
  /** Chooses the model of collections that are created on this page; null: the default one of akin. */
  setNewModel(name: string | null): void;
  reindex(model: string): void;
  pauseReindex(): void;
  resumeReindex(): void;
  dropCollection(name: string): void;
  clearDemo(): void;
  createKey(key: NewKey): void;
  revokeKey(id: string, name: string): void;
  forgetKey(): void;
  addFiles(files: readonly LocalFile[]): Promise<void>;
  /** Processes one failed change again, or all that failed for one reason. */
  retry(what: { operation: string } | { reason: string }): void;
  /** Null hides the failures. */
  openRun(id: string | null): void;
  retryRun(id: string): void;
  dismissRun(id: string): void;
  copy(text: string): Promise<void>;
}

export interface Actions extends SearchActions, DocumentActions, ReviewActions, ViewActions {}
