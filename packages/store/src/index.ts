export { type Backlog, readBacklog } from './accept/backlog.ts';
export { checkDelete } from './accept/check-delete.ts';
export {
  commitOfStandby,
  findOperation,
  lastOperation,
  listOperations,
  type Operation,
  oldestInvisibleChange,
  type SeqRange,
  waitForOperations,
} from './accept/operations.ts';
export { type Quota, setQuota } from './accept/quota.ts';
export type { Change } from './accept/staged-rows.ts';
export { type AcceptedRange, type RequestOrigin, type Staging, stageChanges } from './accept/staging.ts';
export { currentVersions } from './accept/versions.ts';
export {
  type AnalysisRef,
  type AnalysisTask,
  ClaimTurns,
  claimForAnalysis,
  failAnalysis,
  listAnalyzing,
  requeueAnalyses,
  saveAnalysis,
  seqOf,
} from './analyze/analysis.ts';
export { type HostPatienceLimits, hostPatience } from './analyze/host-patience.ts';
export { retryFailed } from './analyze/retry.ts';
export { maintainCollection } from './bulk/maintain.ts';
export { deleteUnaccepted } from './bulk/recover.ts';
export {
  type CollectionState,
  type CollectionStatus,
  cachedCollection,
  collectionOf,
  collectionStates,
  collectionStatus,
  createCollection,
  dropCollection,
  dropReplaced,
  findCollection,
  listCollections,
} from './collections/collections.ts';
export { defineFields } from './collections/define-fields.ts';
export { appliedModules, modelName, modelSetOf } from './collections/model-set.ts';
export { calibrationOf, otherModels, requireOwnModels } from './collections/models.ts';
export { loadSchema } from './collections/schema.ts';
export { helpCommits } from './commit/apply-shards.ts';
export { commit } from './commit/commit.ts';
export { completeCommitRequests, requestCommit, requestedCommits } from './commit/commit-requests.ts';
export {
  countCollectionsWithoutLeader,
  findLeases,
  type Lease,
  releaseLeases,
  renewLeases,
  takeLeases,
} from './commit/leases.ts';
export { listTombstones } from './commit/tombstones.ts';
export type { Collection, CollectionSchema, CommitResult, KeyFilter, ModelSet, Store } from './context.ts';
export { writeBackup } from './engine/backup-archive.ts';
export type * from './engine/engine.ts';
export { holdsStore } from './engine/folder.ts';
export { preparePrivateFolder } from './engine/private-folder.ts';
export { isOutage } from './engine/sqlstate.ts';
export { definedFields, type ExportedDocument, exportDocuments } from './export/export-documents.ts';
export { decideGroups, listDecisions } from './groups/decisions.ts';
export { type Group, listGroups } from './groups/list-groups.ts';
export { listPartPairs, type PartPair } from './groups/list-part-pairs.ts';
export { updateGroups } from './groups/update-groups.ts';
export { updatePartPairs } from './groups/update-part-pairs.ts';
export { parseKeyFilter, readSetFields, withKeyFilter } from './keys/key-filter.ts';
export { isSecretOf, readKeyText } from './keys/key-text.ts';
export {
  createKey,
  type Key,
  LAST_USE_RESOLUTION_MILLISECONDS,
  listKeys,
  loadKeys,
  type NewKey,
  recordKeyUse,
  revokeKey,
  type StoredKey,
} from './keys/keys.ts';
export { isSignedBy, readSearchToken, readTokenText } from './keys/search-token.ts';
export type { FindModelSet } from './model-sets.ts';
export { listProcesses, saveAnalyzers } from './processes.ts';
export type { PictureToAnalyze, Reanalyze } from './reindex/copy.ts';
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
export { dismissRun, findRun, listRuns, type Run, type RunFailure, reportRun } from './runs/runs.ts';
export { type FilePlace, readStoredPicture } from './runs/source.ts';
export type { FieldCollapse, MemberRequest } from './search/collapse-request.ts';
export { MAX_FACET_VALUES } from './search/facet-plans.ts';
export type { FacetRequest, FacetResult, ValueCount } from './search/facet-request.ts';
export { MAX_FACETS } from './search/facets.ts';
export { findParts } from './search/find-parts.ts';
export type { PartBox } from './search/part-box.ts';
export { getDocuments, readThumbnail } from './search/read.ts';
export type {
  KnownDistances,
  RankByDocuments,
  SearchInput,
  SearchResult,
  Smartfilter,
} from './search/request.ts';
export { search } from './search/search.ts';
export { parseSort, type SortClause } from './search/sort.ts';
export { terms } from './search/terms.ts';
export { defaultSearchMemory } from './searcher/in-memory-search.ts';
export { backup, openStore, restore, type StoreConfig } from './store.ts';
