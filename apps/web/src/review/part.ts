/** The view of near-duplicates, which is loaded when it is first opened. */
export { compareDialog, showCompared } from './compare.ts';
export { membersAbove } from './files.ts';
export { handleReviewKey } from './keys.ts';
export {
  choose,
  groupsCommand,
  loadGroups,
  markAllExcept,
  mayReload,
  moreMembers,
  separate,
  setMinScore,
} from './load-groups.ts';
export { takeovers } from './merge.ts';
export { loadPairs, separatePair } from './part-pairs.ts';
export { askForDelete, closeDialogs, review } from './review.ts';
