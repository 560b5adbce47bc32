import { analyze } from './http/analyze.ts';
import { backup } from './http/backup.ts';
import { collectionStatus } from './http/collection-status.ts';
import { collections } from './http/collections.ts';
import { color } from './http/color.ts';
import { coreStatus } from './http/core-status.ts';
import { createCollection } from './http/create-collection.ts';
import { createKey } from './http/create-key.ts';
import { decideGroups } from './http/decide-groups.ts';
import { defineFields } from './http/define-fields.ts';
import { dismissRun } from './http/dismiss-run.ts';
import { docs } from './http/docs.ts';
import { dropCollection } from './http/drop-collection.ts';
import { duplicate } from './http/duplicate.ts';
import { exportDocuments } from './http/export-documents.ts';
import { get } from './http/get.ts';
import { groupDecisions } from './http/group-decisions.ts';
import { groups } from './http/groups.ts';
import { image } from './http/image.ts';
import { keys } from './http/keys.ts';
import { live } from './http/live.ts';
import { metrics } from './http/metrics.ts';
import { models } from './http/models.ts';
import { openapi } from './http/openapi.ts';
import { openapiLegacy } from './http/openapi-legacy.ts';
import { operation } from './http/operation.ts';
import { operations } from './http/operations.ts';
import { operationsStream } from './http/operations-stream.ts';
import { original } from './http/original.ts';
import { parts } from './http/parts.ts';
import { pauseReindex } from './http/pause-reindex.ts';
import { ping } from './http/ping.ts';
import { pixolution } from './http/pixolution.ts';
import { processes } from './http/processes.ts';
import { pullModel } from './http/pull-model.ts';
import { query } from './http/query.ts';
import { ready } from './http/ready.ts';
import { reindex } from './http/reindex.ts';
import { reindexStatus } from './http/reindex-status.ts';
import { reportRun } from './http/report-run.ts';
import { resumeReindex } from './http/resume-reindex.ts';
import { retryOperation } from './http/retry-operation.ts';
import { retryOperations } from './http/retry-operations.ts';
import { retryRun } from './http/retry-run.ts';
import { revokeKey } from './http/revoke-key.ts';
import { runs } from './http/runs.ts';
import { schema } from './http/schema.ts';
import { select } from './http/select.ts';
import { setQuota } from './http/set-quota.ts';
import { stopPull } from './http/stop-pull.ts';
import { tag } from './http/tag.ts';
import { terms } from './http/terms.ts';
import { thumbnail } from './http/thumbnail.ts';
import { tombstones } from './http/tombstones.ts';
import { update } from './http/update.ts';
import { updateJson } from './http/update-json.ts';
import { updateJsonDocs } from './http/update-json-docs.ts';
import { updateXml } from './http/update-xml.ts';

/** Every endpoint. A new one is a file in `http/`, its namesake in the gateway, and a line here. */
export const ENDPOINTS = {
  select,
  query,
  image,
  color,
  duplicate,
  parts,
  update,
  updateJson,
  updateJsonDocs,
  updateXml,
  get,
  analyze,
  terms,
  tag,
  groups,
  groupDecisions,
  decideGroups,
  collections,
  collectionStatus,
  createCollection,
  setQuota,
  dropCollection,
  schema,
  defineFields,
  exportDocuments,
  tombstones,
  reindex,
  reindexStatus,
  pauseReindex,
  resumeReindex,
  pixolution,
  thumbnail,
  original,
  operations,
  // Both come before the next one, because its path also matches theirs.
  retryOperations,
  operationsStream,
  operation,
  retryOperation,
  runs,
  reportRun,
  retryRun,
  dismissRun,
  ping,
  coreStatus,
  keys,
  createKey,
  revokeKey,
  models,
  pullModel,
  stopPull,
  backup,
  processes,
  live,
  ready,
  metrics,
  openapi,
  openapiLegacy,
  docs,
};

export type Endpoints = typeof ENDPOINTS;
export type EndpointName = keyof Endpoints;
