import type { EndpointName, Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { analyze } from './analyze.ts';
import { backup } from './backup.ts';
import { collectionStatus } from './collection-status.ts';
import { collections } from './collections.ts';
import { color } from './color.ts';
import { coreStatus } from './core-status.ts';
import { createCollection } from './create-collection.ts';
import { createKey } from './create-key.ts';
import { decideGroups } from './decide-groups.ts';
import { defineFields } from './define-fields.ts';
import { dismissRun } from './dismiss-run.ts';
import { docs } from './docs.ts';
import { dropCollection } from './drop-collection.ts';
import { duplicate } from './duplicate.ts';
import { exportDocuments } from './export-documents.ts';
import { get } from './get.ts';
import { groupDecisions } from './group-decisions.ts';
import { groups } from './groups.ts';
import { image } from './image.ts';
import { keys } from './keys.ts';
import { live } from './live.ts';
import { metrics } from './metrics.ts';
import { models } from './models.ts';
import { openapi, openapiLegacy } from './openapi.ts';
import { operation } from './operation.ts';
import { operations } from './operations.ts';
import { operationsStream } from './operations-stream.ts';
import { original } from './original.ts';
import { parts } from './parts.ts';
import { pauseReindex } from './pause-reindex.ts';
import { ping } from './ping.ts';
import { pixolution } from './pixolution.ts';
import { processes } from './processes.ts';
import { pullModel } from './pull-model.ts';
import { query } from './query.ts';
import { ready } from './ready.ts';
import { reindex } from './reindex.ts';
import { reindexStatus } from './reindex-status.ts';
import { reportRun } from './report-run.ts';
import { resumeReindex } from './resume-reindex.ts';
import { retryOperation } from './retry-operation.ts';
import { retryOperations } from './retry-operations.ts';
import { retryRun } from './retry-run.ts';
import { revokeKey } from './revoke-key.ts';
import { runs } from './runs.ts';
import { schema } from './schema.ts';
import { select } from './select.ts';
import { setQuota } from './set-quota.ts';
import { stopPull } from './stop-pull.ts';
import { tag } from './tag.ts';
import { terms } from './terms.ts';
import { thumbnail } from './thumbnail.ts';
import { tombstones } from './tombstones.ts';
import { update } from './update.ts';
import { updateJson } from './update-json.ts';
import { updateJsonDocs } from './update-json-docs.ts';
import { updateXml } from './update-xml.ts';

/** The handler of each endpoint of the contract. An endpoint without a handler does not compile. */
export const HANDLERS: { readonly [Name in EndpointName]: Handler<ParametersOf<Endpoints[Name]>> } = {
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
