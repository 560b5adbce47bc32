import type { Bits } from './bits.ts';
import { joined, picked } from './columns.ts';
import type { DocValues } from './doc-values.ts';
import { nthSmallest } from './nth-smallest.ts';
import { type Heads, type HeadsPage, type HeadsQuery, LAST_PLACE, type OrderKey, type PartHeads } from './query.ts';
import type { RowGroups } from './row-groups.ts';

/** The places of rows in the order of one key. */
export class KeyPlaces {
  readonly #values: DocValues | undefined;
  readonly #key: OrderKey;

  constructor(values: DocValues | undefined, key: OrderKey) {
    this.#values = values;
    this.#key = key;
  }

  /** From 0; LAST_PLACE for a row without a value. */
  of(row: number): number {
    const ordinal = this.#values === undefined ? 0 : this.#values.at(row);
    return ordinal === 0 ? LAST_PLACE : placeIn(this.#key, this.#key.places[ordinal] as number);
  }

  ofAll(rows: readonly number[]): Uint32Array {
    const places = new Uint32Array(rows.length);
    for (let i = 0; i < places.length; i++) places[i] = this.of(rows[i] as number);
    return places;
  }
}

/*
 * All rows, or all heads, are visited in plain loops that allocate little: a call for each, `from` and `map` of typed
 * arrays, and new memory take ten times as long.
 */

/** The first row of each group. @param deciding how many of the keys decide */
export function findHeads(
  rows: Bits,
  groups: RowGroups,
  keys: readonly KeyPlaces[],
  deciding: number,
  docOf: (row: number) => number,
): PartHeads {
  const { leavesOut } = groups;
  const firstKey = keys[0] as KeyPlaces;
  const isBefore = (row: number, other: number) => {
    for (let i = 1; i < deciding; i++) {
      const key = keys[i] as KeyPlaces;
      const difference = key.of(row) - key.of(other);
      if (difference !== 0) return difference < 0;
    }
    return false;
  };
  // By ordinal of the group.
  const headOf = new Int32Array(groups.greatest + 1).fill(-1);
  const placeOf = new Uint32Array(groups.greatest + 1);
  const heads: number[] = [];
  let matches = 0;
  for (let i = 0; i < rows.length; i++) {
    for (let word = rows[i] as number; word !== 0; word &= word - 1) {
      const row = i * 32 + 31 - Math.clz32(word & -word);
      const group = groups.of(row);
      if (group === 0 && leavesOut) continue;
      matches++;
      if (group < 0) {
        heads.push(row);
        continue;
      }
      const place = firstKey.of(row);
      const [head, best] = [headOf[group] as number, placeOf[group] as number];
      if (head >= 0 && (place > best || (place === best && !isBefore(row, head)))) continue;
      headOf[group] = row;
      placeOf[group] = place;
    }
  }
  for (let group = 0; group < headOf.length; group++) {
    if ((headOf[group] as number) >= 0) heads.push(headOf[group] as number);
  }
  const [groupOf, docs] = [new Int32Array(heads.length), new Float64Array(heads.length)];
  for (let i = 0; i < heads.length; i++) {
    const row = heads[i] as number;
    groupOf[i] = Math.max(groups.of(row), -1);
    docs[i] = docOf(row);
  }
  return { matches, groups: groupOf, docs, places: keys.map((key) => key.ofAll(heads)) };
}

/** The place of a value in the order of a key. */
function placeIn({ isDescending }: Pick<OrderKey, 'isDescending'>, place: number): number {
  return isDescending && place !== LAST_PLACE ? LAST_PLACE - 1 - place : place;
}

/** Merges what the parts of a collection found for a query. */
export function mergeHeads(parts: readonly PartHeads[], { keys, deciding }: HeadsQuery): Heads {
  const count = parts.reduce((sum, { docs }) => sum + docs.length, 0);
  const groups = joined(parts, (part) => part.groups, new Int32Array(count));
  const docs = joined(parts, (part) => part.docs, new Float64Array(count));
  const places = keys.map((_, i) => joined(parts, (part) => part.places[i] as Uint32Array, new Uint32Array(count)));
  const headOf = new Int32Array(greatestOf(groups) + 1).fill(-1);
  const heads: number[] = [];
  for (let at = 0; at < count; at++) {
    const group = groups[at] as number;
    if (group < 0) {
      heads.push(at);
      continue;
    }
    const head = headOf[group] as number;
    if (head < 0 || compare(places, at, head, deciding) < 0) headOf[group] = at;
  }
  for (let group = 0; group < headOf.length; group++) {
    if ((headOf[group] as number) >= 0) heads.push(headOf[group] as number);
  }
  const matches = parts.reduce((sum, part) => sum + part.matches, 0);
  return {
    matches,
    docs: picked(docs, heads, new Float64Array(heads.length)),
    places: places.map((all) => picked(all, heads, new Uint32Array(heads.length))),
  };
}

function greatestOf(numbers: Int32Array): number {
  let greatest = 0;
  for (let i = 0; i < numbers.length; i++) greatest = Math.max(greatest, numbers[i] as number);
  return greatest;
}

/** The documents of a page, in its order. @param query that of the heads */
export function pageOfHeads(
  { docs, places: allPlaces }: Heads,
  { keys: allKeys }: HeadsQuery,
  { from: first, wanted, after }: HeadsPage,
): Float64Array {
  const [places, keys] = [allPlaces.slice(first), allKeys.slice(first)];
  const from = after && keys.map((key, i) => placeIn(key, after[i] as number));
  const isBehind = (at: number) => {
    const i = places.findIndex((all, i) => all[at] !== from?.[i]);
    return i >= 0 && (places[i]?.[at] as number) > (from?.[i] as number);
  };
  const left: number[] = [];
  for (let at = 0; at < docs.length; at++) if (from === undefined || isBehind(at)) left.push(at);
  // Most heads need no sorting: by some key they are behind the page.
  const near: number[] = [];
  let undecided = left;
  for (const all of places) {
    const last = nthSmallest(
      undecided.map((at) => all[at] as number),
      wanted - near.length,
    );
    for (const at of undecided) if ((all[at] as number) < last) near.push(at);
    undecided = undecided.filter((at) => all[at] === last);
  }
  const shown = near.concat(undecided).sort((a, b) => compare(places, a, b, places.length));
  return Float64Array.from(shown.slice(0, wanted), (at) => docs[at] as number);
}

function compare(places: readonly Uint32Array[], a: number, b: number, count: number): number {
  for (let i = 0; i < count; i++) {
    const all = places[i] as Uint32Array;
    const difference = (all[a] as number) - (all[b] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
