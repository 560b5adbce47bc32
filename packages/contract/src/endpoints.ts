import { analyze } from './http/analyze.ts';
import { collectionStatus, collections, createCollection, dropCollection, setQuota } from './http/collections.ts';
import { coreStatus } from './http/core-status.ts';
import { docs, openapi, openapiLegacy } from './http/documentation.ts';
import { exportDocuments } from './http/export-documents.ts';
import { get } from './http/get.ts';
import { decideGroups, groupDecisions, groups } from './http/groups.ts';
import { createKey, keys, revokeKey } from './http/keys.ts';
import { models, pullModel, stopPull } from './http/models.ts';
import { operation, operations, operationsStream, retryOperation, retryOperations } from './http/operations.ts';
import { original } from './http/original.ts';
import { ping } from './http/ping.ts';
import { pixolution } from './http/pixolution.ts';
import { backup, live, metrics, processes, ready } from './http/process.ts';
import { pauseReindex, reindex, reindexStatus, resumeReindex } from './http/reindex.ts';
import { dismissRun, reportRun, retryRun, runs } from './http/runs.ts';
import { defineFields, schema } from './http/schema.ts';
import { color, duplicate, image, parts, query, select } from './http/searches.ts';
import { tag } from './http/tag.ts';
import { terms } from './http/terms.ts';
import { thumbnail } from './http/thumbnail.ts';
import { tombstones } from './http/tombstones.ts';
import { update, updateJson, updateJsonDocs, updateXml } from './http/update.ts';

/** Every endpoint. A new one stands in a file in `http/`, its handler in the namesake in the gateway, and a line here. */
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
