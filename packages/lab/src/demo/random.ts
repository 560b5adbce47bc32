/** A generator of pseudorandom numbers that are the same on every run. */
export interface Random {
  /** From 0 to 1, 1 excluded. */
  next(): number;
  between(low: number, high: number): number;
  /** An integer, both ends included. */
  integer(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** The generator for a name (the FNV-1a hash of the name is the seed of Mulberry32). */
export function randomOf(name: string): Random {
  let state = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) state = Math.imul(state ^ name.charCodeAt(i), 0x01000193);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    between: (low, high) => low + (high - low) * next(),
    integer: (low, high) => low + Math.floor((high - low + 1) * next()),
    chance: (probability) => next() < probability,
    pick(list) {
      if (list.length === 0) throw new RangeError('There is nothing to pick from.');
      return list[Math.floor(list.length * next())] as (typeof list)[number];
    },
  };
}
