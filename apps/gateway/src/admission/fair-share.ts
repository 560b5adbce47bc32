/** The part of a shared limit that one client may use, so that some is left for others. */
const SHARE = 3 / 4;

/** The share of one client in so many slots. Of up to three slots it may use all. */
export function fairShareOf(places: number): number {
  return Math.ceil(places * SHARE);
}
