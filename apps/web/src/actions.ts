import type { FoundDocument } from '@akin/client';
import type { Mode, Query } from './view-state.ts';

/** What people can do on the page. */
export interface Actions {
  showCollection(name: string): void;
  ask(query: Query | null, mode?: Mode): void;
  setMode(mode: Mode): void;
  setWords(words: string): void;
  addFilter(filter: string): void;
  removeFilter(filter: string): void;
  showFacets(shown: boolean): void;
  more(): void;
  reviewGroups(): void;
  showChanges(): void;
  /** Sets one failed change on its way again, or all that failed for one reason. */
  retry(what: { operation: string } | { reason: string }): void;
  /** Shows the failures of a run, or none. */
  openRun(id: string | null): void;
  retryRun(id: string): void;
  dismissRun(id: string): void;
  /** Marks documents as to be deleted, or not. */
  choose(ids: readonly string[], chosen: boolean): void;
  /** Chooses all members of a group but the first, those that are not listed yet included. */
  chooseRest(group: string): Promise<void>;
  /** Lists more members of a group. */
  moreMembers(group: string): Promise<void>;
  askForDelete(): void;
  /** The question was answered, one way or the other. */
  answered(): void;
  deleteChosen(): Promise<void>;
  /** Brings back what was deleted last. */
  undoDelete(): Promise<void>;
  forgetDeleted(): void;
  open(document: FoundDocument | null): void;
  /** Goes to the document before or behind the one that is shown. */
  step(by: 1 | -1): Promise<void>;
  upload(file: Blob): Promise<void>;
  copy(text: string): Promise<void>;
}
