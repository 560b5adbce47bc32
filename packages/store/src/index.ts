export {
  type AnalysisRef,
  type AnalysisTask,
  type ClaimOptions,
  claimForAnalysis,
  failAnalysis,
  listAnalyzing,
  requeueAnalyses,
  requeueStuck,
  saveAnalysis,
  seqOf,
} from './analysis.ts';
export { type Backlog, readBacklog } from './backlog.ts';
export { arrangeCells, optimize } from './cells/arrange.ts';
export { checkDelete } from './check-delete.ts';
export {
  type Collection,
  type CollectionStatus,
  collectionStatus,
  createCollection,
  dropCollection,
  findCollection,
  listCollections,
} from './collections.ts';
export { type CommitResult, commit } from './commit.ts';
export { answerCommit, requestCommit, requestedCommits } from './commit-requests.ts';
export { DEFINABLE_TYPES, defineFields } from './define-fields.ts';
export type * from './engine/engine.ts';
export { holdsStore } from './engine/folder.ts';
export {
  definedFields,
  type ExportedDocument,
  type ExportPage,
  type ExportRequest,
  exportDocuments,
} from './export/export-documents.ts';
export {
  type Group,
  type GroupMember,
  type GroupsPage,
  type GroupsRequest,
  listGroups,
} from './groups/list-groups.ts';
export type { GroupRule } from './groups/rule.ts';
export { updateGroups } from './groups/update-groups.ts';
export { isSecretOf, type KeyText, readKeyText } from './keys/key-text.ts';
export {
  createKey,
  type Key,
  listKeys,
  loadKeys,
  type NewKey,
  noteUse,
  revokeKey,
  type StoredKey,
  USE_MILLISECONDS,
} from './keys/keys.ts';
export { lastOperation } from './last-operation.ts';
export { holdLease, type Lease, releaseLeases } from './leases.ts';
export { maintain } from './maintain.ts';
export { type OtherModel, otherCalibration, otherModels, requireOwnModels } from './models.ts';
export { oldestUnseen } from './oldest-unseen.ts';
export {
  findOperation,
  listOperations,
  type Operation,
  type OperationPage,
  type OperationState,
  type SeqRange,
  waitForOperations,
} from './operations.ts';
export { sweepUnaccepted } from './recover.ts';
export { type ReindexWork, runReindex } from './reindex/run-reindex.ts';
export { beginReindex, type MissingDocument, type Reindex, reindexState } from './reindex/state.ts';
export { type Retried, retryFailed } from './retry.ts';
export { type CollectionSchema, type Column, loadSchema } from './schema.ts';
export type { RangeInclude, RangeOther } from './search/facet-ranges.ts';
export type { FacetRequest, FacetResult, FieldFacet, RangeFacet, ValueCount } from './search/facet-request.ts';
export { readThumbnail, type Thumbnail } from './search/read.ts';
export type {
  Rank,
  RankByDocuments,
  Ranking,
  SearchHit,
  SearchQuestion,
  SearchRequest,
  SearchResult,
  Smartfilter,
} from './search/request.ts';
export { search } from './search/search.ts';
export { parseSort, type SortClause } from './search/sort.ts';
export { type TermCount, type TermsRequest, terms } from './search/terms.ts';
export { type Accepted, type Change, type Origin, type Staging, stageChanges } from './staging.ts';
export { backup, openStore, type ParsedOutputs, restore, type Store, type StoreConfig } from './store.ts';
