export {
  type CollectionState,
  type CollectionStatus,
  cachedCollection,
  collectionOf,
  collectionStates,
  collectionStatus,
  createCollection,
  findCollection,
  listCollections,
} from './collections/collections.ts';
export { defineFields } from './collections/define-fields.ts';
export { appliedModules, modelSetOf } from './collections/model-set.ts';
export { calibrationOf, otherModels, requireOwnModels } from './collections/models.ts';
export { type Quota, setQuota } from './collections/quota.ts';
export { loadSchema } from './collections/schema.ts';
export type { Collection, CollectionSchema } from './context.ts';
export { writeBackup } from './engine/backup-archive.ts';
export { holdsStore } from './engine/folder.ts';
export { preparePrivateFolder } from './engine/private-folder.ts';
export { isOutage } from './engine/sqlstate.ts';
export type { FindModelSet, ModelSet } from './model-sets.ts';
export { listProcesses, saveAnalyzers } from './processes.ts';
export { dismissRun, findRun, listRuns, type RunFailure, reportRun } from './runs.ts';
