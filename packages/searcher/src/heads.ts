import { type Bits, forEachBit } from './bits.ts';
import { nthSmallest } from './nth-smallest.ts';
import { type Heads, type HeadsQuery, LAST_PLACE, type OrderKey, type PartHeads } from './query.ts';
import type { RowGroups } from './row-groups.ts';

/** The place of a row in the order of one key, from 0; rows without a value are at LAST_PLACE. */
export type PlaceOf = (row: number) => number;

/** The first row of each group. @param keys the places by each key of the query */
export function findHeads(
  rows: Bits,
  groups: RowGroups,
  keys: readonly PlaceOf[],
  deciding: number,
  docOf: (row: number) => number,
): PartHeads {
  const heads = new Map<number, number>();
  const isBefore = (row: number, other: number) => {
    for (let i = 0; i < deciding; i++) {
      const placeOf = keys[i] as PlaceOf;
      const difference = placeOf(row) - placeOf(other);
      if (difference !== 0) return difference < 0;
    }
    return false;
  };
  let matches = 0;
  forEachBit(rows, (row) => {
    matches++;
    const group = groups.of(row);
    const head = heads.get(group);
    if (head === undefined || isBefore(row, head)) heads.set(group, row);
  });
  return {
    matches,
    groups: Float64Array.from(heads.keys()),
    docs: Float64Array.from(heads.values(), docOf),
    places: keys.map((placeOf) => Float64Array.from(heads.values(), placeOf)),
  };
}

/** The place of a value in the order of a key. */
export function placeIn({ isDescending }: Pick<OrderKey, 'isDescending'>, place: number): number {
  return isDescending && place !== LAST_PLACE ? LAST_PLACE - 1 - place : place;
}

/** Merges what the parts of a collection found for a query. */
export function mergeHeads(parts: readonly PartHeads[], { keys, deciding, page }: HeadsQuery): Heads {
  const groups = joined(parts.map((part) => part.groups));
  const docs = joined(parts.map((part) => part.docs));
  const places = keys.map((_, i) => joined(parts.map((part) => part.places[i] as Float64Array)));
  const heads = new Map<number, number>();
  for (let at = 0; at < groups.length; at++) {
    const group = groups[at] as number;
    const head = heads.get(group);
    if (head === undefined || compare(places, at, head, deciding) < 0) heads.set(group, at);
  }
  const matches = parts.reduce((sum, part) => sum + part.matches, 0);
  const all = [...heads.values()];
  const shown = page === undefined ? all : pageOf(all, places.slice(page.from), keys.slice(page.from), page);
  return { matches, found: heads.size, docs: Float64Array.from(shown, (at) => docs[at] as number) };
}

/** The first heads of a page, in its order. */
function pageOf(
  heads: readonly number[],
  places: readonly Float64Array[],
  keys: readonly OrderKey[],
  { after, wanted }: NonNullable<HeadsQuery['page']>,
): number[] {
  const from = after && keys.map((key, i) => placeIn(key, after[i] as number));
  const isBehind = (at: number) => {
    const i = places.findIndex((all, i) => all[at] !== from?.[i]);
    return i >= 0 && (places[i]?.[at] as number) > (from?.[i] as number);
  };
  const left = from === undefined ? heads : heads.filter(isBehind);
  // Most heads need no sorting: they are behind the page by the first key.
  const first = places[0] as Float64Array;
  const last = nthSmallest(
    left.map((at) => first[at] as number),
    wanted,
  );
  const near = left.filter((at) => (first[at] as number) <= last);
  return near.sort((a, b) => compare(places, a, b, places.length)).slice(0, wanted);
}

function compare(places: readonly Float64Array[], a: number, b: number, count: number): number {
  for (let i = 0; i < count; i++) {
    const all = places[i] as Float64Array;
    const difference = (all[a] as number) - (all[b] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

function joined(arrays: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const array of arrays) {
    all.set(array, at);
    at += array.length;
  }
  return all;
}
