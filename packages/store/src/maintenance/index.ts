export { dropCollection, dropReplaced } from './drop-collection.ts';
export { decideGroups, listDecisions } from './groups/decisions.ts';
export { type Group, listGroups } from './groups/list-groups.ts';
export { listPartPairs, type PartPair } from './groups/list-part-pairs.ts';
export { updateGroups } from './groups/update-groups.ts';
export { updatePartPairs } from './groups/update-part-pairs.ts';
export { maintainCollection } from './maintain.ts';
export type { PictureToAnalyze } from './reindex/copy.ts';
export { runReindex } from './reindex/run-reindex.ts';
export {
  beginReindex,
  orphanedReindexes,
  pauseReindex,
  type ReindexSettings,
  reindexState,
  resumeReindex,
  type StartedReindex,
} from './reindex/state.ts';
