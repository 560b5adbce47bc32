export type { FieldCollapse, MemberRequest } from './collapse-request.ts';
export type { KeyFilter } from './context.ts';
export { definedFields, type ExportedDocument, exportDocuments } from './export/export-documents.ts';
export type { FacetRequest, FacetResult, ValueCount } from './facet-request.ts';
export { findParts } from './find-parts.ts';
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
export type { PartBox } from './part-box.ts';
export { getDocuments, readThumbnail } from './read.ts';
export type { KnownDistances, RankByDocuments, SearchInput, SearchResult, Smartfilter } from './request.ts';
export { search } from './search.ts';
export { defaultSearchMemory } from './searcher/in-memory-search.ts';
export { parseSort, type SortClause } from './sort.ts';
export { type FilePlace, readStoredPicture } from './stored-picture.ts';
