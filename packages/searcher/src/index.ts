export type { AssignedCell } from './cells.ts';
export { SearchedCollection } from './collection.ts';
export { type DocNumbers, type DocSet, docSetOf } from './doc-set.ts';
export { pageOfHeads } from './heads.ts';
export type { CollectionChange, ValueList } from './messages.ts';
export type { NearPairs, PairsQuery } from './pairs.ts';
export { mirrored, type PointSet, readPoints } from './points/point-format.ts';
export { findPart, type PartMatch } from './points/verify.ts';
export type {
  Candidates,
  CountQuery,
  Distinct,
  Heads,
  HeadsPage,
  HeadsQuery,
  PartQuery,
  PointCandidate,
  PointQuery,
  Restriction,
  VectorQuery,
} from './query.ts';
export { LAST_PLACE } from './query.ts';
export { Searcher, SearcherError } from './searcher.ts';
export { readValues, type Summary, summaryOf } from './wire.ts';
