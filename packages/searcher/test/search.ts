import { createRandom } from '@akin/domain/random';
import type { SearchedCollection } from '../src/collection.ts';
import type { Candidates, VectorQuery } from '../src/query.ts';
import { distance } from './distance.ts';

/** Numbers with a normal distribution (Box–Muller). */
export function gaussian(seed: number): () => number {
  const random = createRandom(seed);
  return () => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
}

/** Adds a document; every tenth one has no vector. */
export function addDocument(collection: SearchedCollection, doc: number, commit: number, vector: Float32Array): void {
  collection.addRow(doc, commit);
  if (hasVector(doc)) collection.setVector('view', doc, vector);
}

function hasVector(doc: number): boolean {
  return doc % 10 !== 3;
}

/** Searches for ten documents with limits and a commit by default. @throws Error if the commit cannot be searched */
export function finder(limits: Pick<VectorQuery, 'exactRows' | 'minCompared'>) {
  return (collection: SearchedCollection, vector: Float32Array, query: Partial<VectorQuery> = {}): Candidates => {
    const found = collection.search({
      commit: 1,
      module: 'view',
      filters: [],
      vector,
      k: 10,
      maxCandidates: 20_000,
      ...limits,
      ...query,
    });
    if (found === undefined) throw new Error('not searched');
    return found;
  };
}

/** The documents of {@link addDocument} with a vector for which the condition is true, nearest first. */
export function nearestOf(
  vectors: readonly Float32Array[],
  query: Float32Array,
  isIn: (doc: number) => boolean = () => true,
): { readonly doc: number; readonly distance: number }[] {
  return vectors
    .map((vector, doc) => ({ doc, distance: distance(vector, query) }))
    .filter(({ doc }) => hasVector(doc) && isIn(doc))
    .sort((a, b) => a.distance - b.distance);
}

/** Those of some documents that a result lacks. Jest's `arrayContaining` takes seconds for thousands of candidates. */
export function lacking(docs: Iterable<number> | undefined, wanted: readonly number[]): number[] {
  const given = new Set(docs);
  return wanted.filter((doc) => !given.has(doc));
}
