import type { FoundDocument } from '@akin/client';
import type { Mode } from './mode.ts';
import { TEXTS } from './texts.ts';

type BandName = keyof typeof TEXTS.bands.names;

export interface Band {
  readonly name: BandName;
  readonly documents: readonly FoundDocument[];
}

/** The minimum score of each band, best first. A score means the same in every collection, but not in every mode. */
type Bands = readonly (readonly [BandName, number])[];
const CONTENT: Bands = [
  ['same', 0.95],
  ['close', 0.6],
  ['related', 0.3],
  ['weak', 0],
];
const OTHERS: Bands = [
  ['same', 0.95],
  ['close', 0.7],
  ['related', 0.4],
  ['weak', 0],
];
const bandThresholds = (mode: Mode): Bands => (mode === 'content' ? CONTENT : OTHERS);

/** Empty bands are omitted. */
export function bandsOf(documents: readonly FoundDocument[], mode: Mode): Band[] {
  const names = bandThresholds(mode);
  return names.flatMap(([name, from], i) => {
    const below = i === 0 ? Number.POSITIVE_INFINITY : (names[i - 1]?.[1] ?? 0);
    const own = documents.filter(({ score = 0 }) => score >= from && score < below);
    return own.length > 0 ? [{ name, documents: own }] : [];
  });
}

/** What the documents of a band are to the query. */
export function aboutBand(name: BandName, mode: Mode): string {
  const isOfCopies = name === 'close' && mode === 'duplicate';
  return isOfCopies ? TEXTS.bands.closeCopies : TEXTS.bands.about[name];
}

export function minRelatedScore(mode: Mode): number {
  return bandThresholds(mode).find(([name]) => name === 'related')?.[1] ?? 0;
}

/**
 * The number of results that are related to the query.
 *
 * @param documents the loaded results, best first
 * @param isAll whether there are no more
 * @returns `isExact` is false if further results may be related, too
 */
export function countRelated(
  documents: readonly FoundDocument[],
  mode: Mode,
  isAll: boolean,
): { readonly count: number; readonly isExact: boolean } {
  const least = minRelatedScore(mode);
  const count = documents.filter(({ score = 0 }) => score >= least).length;
  return { count, isExact: isAll || count < documents.length };
}
