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

/**
 * Every endpoint, in groups, in the order in which people read them. A new one stands in a file in `http/`, its handler
 * in the namesake in the gateway, and its name here. Of two paths that match one URL, the more specific one is first.
 */
export const GROUPS = {
  Search: {
    description: 'Find documents by pictures, colours, words and filters.',
    endpoints: { select, query, image, color, duplicate, parts, get, terms, tag, thumbnail, original },
  },
  Groups: {
    description: 'Near-duplicates of a whole collection.',
    endpoints: { groups, groupDecisions, decideGroups },
  },
  Changes: {
    description: 'Add, replace and delete documents, and follow these changes.',
    endpoints: {
      update,
      updateJson,
      updateJsonDocs,
      updateXml,
      analyze,
      tombstones,
      operations,
      retryOperations,
      operationsStream,
      operation,
      retryOperation,
      runs,
      reportRun,
      retryRun,
      dismissRun,
    },
  },
  Collections: {
    description: 'Collections, their fields, and bulk work on them.',
    endpoints: {
      collections,
      collectionStatus,
      createCollection,
      setQuota,
      dropCollection,
      schema,
      defineFields,
      exportDocuments,
      reindex,
      reindexStatus,
      pauseReindex,
      resumeReindex,
      pixolution,
      ping,
      coreStatus,
    },
  },
  Keys: { description: 'Keys and what they allow.', endpoints: { keys, createKey, revokeKey } },
  Models: { description: 'Content models, and how to get them.', endpoints: { models, pullModel, stopPull } },
  Service: {
    description: 'Health, metrics and this description.',
    endpoints: { live, ready, metrics, processes, backup, openapi, openapiLegacy, docs },
  },
};

export const ENDPOINTS = {
  ...GROUPS.Search.endpoints,
  ...GROUPS.Groups.endpoints,
  ...GROUPS.Changes.endpoints,
  ...GROUPS.Collections.endpoints,
  ...GROUPS.Keys.endpoints,
  ...GROUPS.Models.endpoints,
  ...GROUPS.Service.endpoints,
};

export type Endpoints = typeof ENDPOINTS;
export type EndpointName = keyof Endpoints;
