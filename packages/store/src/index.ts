export {
  type Collection,
  type CollectionStatus,
  collectionStatus,
  createCollection,
  dropCollection,
  findCollection,
  listCollections,
} from './collections.ts';
export type * from './engine/engine.ts';
export { openPglite, type PgliteEngine } from './engine/pglite.ts';
export { openPostgres } from './engine/postgres.ts';
export { type CollectionSchema, type Column, loadSchema } from './schema.ts';
export { openStore, type ParsedOutputs, type Store, type StoreConfig } from './store.ts';
