export { type Backlog, readBacklog } from './accept/backlog.ts';
export { checkDelete } from './accept/check-delete.ts';
export {
  commitOfStandby,
  findOperation,
  lastOperation,
  listOperations,
  type Operation,
  type SeqRange,
  waitForOperations,
} from './accept/operations.ts';
export type { Change } from './accept/staged-rows.ts';
export { type AcceptedRange, type RequestOrigin, Staging } from './accept/staging.ts';
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
} from './analyze/analysis.ts';
export { type HostPatienceLimits, hostPatience } from './analyze/host-patience.ts';
export { retryFailed } from './analyze/retry.ts';
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
export type { CommitResult, Store } from './context.ts';
