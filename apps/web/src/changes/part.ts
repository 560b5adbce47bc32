export { changesView } from './changes.ts';
export { loadMoreChanges, retryChanges, watchChanges } from './watch-changes.ts';
