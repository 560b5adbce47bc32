export { type DocNumbers, type DocSet, docSetOf } from './doc-set.ts';
export type { ValueList } from './messages.ts';
export type { NearPairs, PairsQuery } from './pairs.ts';
export type { Candidates, CountQuery, Distinct, Restriction, VectorQuery } from './query.ts';
export { Searcher, SearcherError } from './searcher.ts';
export { readValues, type Summary, summaryOf } from './wire.ts';
