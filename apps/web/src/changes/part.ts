/** The view of changes, which is loaded when it is first opened. */
export { changesView } from './changes.ts';
export { loadMoreChanges, retryChanges, watchChanges } from './watch-changes.ts';
