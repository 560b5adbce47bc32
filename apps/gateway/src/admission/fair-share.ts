/** The part of a shared limit that one client may use, so that some is left for others. */
const SHARE = 3 / 4;

/** The share of one client in a number of slots. It may use all of up to three slots. */
export function fairShareOf(slots: number): number {
  return Math.ceil(slots * SHARE);
}
