import type { FoundDocument, NewKey } from '@akin/client';
import type { LocalFile } from './add/files.ts';
import type { Layout } from './grid/rows.ts';
import type { Mode } from './mode.ts';
import type { Compared } from './review/compared.ts';
import type { Keep } from './review/facts.ts';
import type { Also, Query } from './view-state.ts';

/** What people can do on the page. */
export interface Actions {
  showCollection(name: string): void;
  ask(query: Query | null, mode?: Mode): void;
  setMode(mode: Mode): void;
  /** What was typed: words, a colour, or the URL of a picture. */
  setWords(words: string): void;
  /** Adds a document to what results are like or unlike, or takes it away. */
  askAlso(id: string, sign: Also['sign'] | null): void;
  /** Searches for words, also where they could mean a colour. */
  askWords(words: string, where?: 'both' | 'look' | 'text'): void;
  /** Shows only results with at least this score. */
  setThreshold(least: number): void;
  /** Selects a result, or all up to it. */
  select(id: string, how: { readonly range: boolean }): void;
  clearSelection(): void;
  deleteSelected(): Promise<void>;
  /** Gives all that is selected a label, or takes it from them. */
  labelSelected(): Promise<void>;
  /** Copies all that is selected into another collection. */
  copySelected(): Promise<void>;
  /** Keeps what is asked for in this browser, under a name. */
  saveSearch(): Promise<void>;
  forgetSearch(name: string): void;
  showHelp(): void;
  addFilter(filter: string): void;
  removeFilter(filter: string): void;
  setFilters(filters: readonly string[]): void;
  /** @param sort as akin takes it; empty for the nearest, or those that fit the words, first */
  setOrder(sort: string): void;
  /** Lists more values of a field, those that contain a text; null: the most frequent alone. */
  findValues(field: string, contains: string | null): void;
  setLayout(layout: Layout): void;
  /** Says which result the keyboard is at. */
  setCurrent(id: string | null): void;
  showFacets(shown: boolean): void;
  more(): void;
  reviewGroups(): void;
  showChanges(): void;
  showManage(): void;
  createCollection(name: string): void;
  dropCollection(name: string): void;
  clearDemo(): void;
  createKey(key: NewKey): void;
  revokeKey(id: string, name: string): void;
  /** Sends no key from now on. */
  forgetKey(): void;
  /** Indexes pictures of this machine. */
  addFiles(files: readonly LocalFile[]): Promise<void>;
  /** Sets one failed change on its way again, or all that failed for one reason. */
  retry(what: { operation: string } | { reason: string }): void;
  /** Shows the failures of a run, or none. */
  openRun(id: string | null): void;
  retryRun(id: string): void;
  dismissRun(id: string): void;
  /** Marks documents as to be deleted, or not. */
  choose(ids: readonly string[], chosen: boolean): void;
  /** Chooses all members but the one to keep, of one group or of all. */
  keep(keep: Keep, group?: string): Promise<void>;
  /** Says that the members of a group are different pictures. */
  separate(group: string): Promise<void>;
  /** Shows only members of groups with at least this score. */
  setLeast(score: number): void;
  /** Shows members of a group in turn in one place. */
  compare(compared: Compared | null): void;
  /** Lists more members of a group. */
  moreMembers(group: string): Promise<void>;
  askForDelete(): void;
  /** The question was answered, one way or the other. */
  answered(): void;
  deleteChosen(): Promise<void>;
  /** Undoes what was done last. */
  undo(): Promise<void>;
  forgetUndo(): void;
  /** Keeps the offer to undo for as long as it is pointed at. */
  keepUndo(): void;
  forgetUndoLater(): void;
  open(document: FoundDocument | null): void;
  /** Goes to the document before or after the one that is shown. */
  step(by: 1 | -1): Promise<void>;
  upload(file: Blob): Promise<void>;
  copy(text: string): Promise<void>;
}
