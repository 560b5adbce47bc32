import type { FieldType } from '@akin/domain';

const COMPARE: Partial<Record<FieldType, (a: string, b: string) => number>> = {
  long: compareIntegers,
  double: compareNumbers,
  date: compareNumbers,
};

/** The order of the values of a column, as the database has it. Values are texts: see `readValueLists`. */
export class ValueOrder {
  readonly #compare: (a: string, b: string) => number;
  readonly #ordinals: ReadonlyMap<string, number>;
  #values: readonly string[];
  /** Indexes of the values, in their order. */
  #sorted: Uint32Array;
  #places: Uint32Array = new Uint32Array();

  /**
   * @param ordinals the values with 1, 2, 3 … and so on, to which others may be added
   * @param inOrder how many of them are known to be in order, from the first on
   */
  constructor(type: FieldType, ordinals: ReadonlyMap<string, number>, inOrder: number) {
    this.#compare = COMPARE[type] ?? compareTexts;
    this.#ordinals = ordinals;
    this.#values = [...ordinals.keys()].slice(0, inOrder);
    this.#sorted = Uint32Array.from(this.#values.keys());
  }

  /** The place of each value in the order, by its ordinal, in memory that threads share. */
  places(): Uint32Array {
    if (this.#ordinals.size > this.#values.length) this.#add([...this.#ordinals.keys()]);
    const sorted = this.#sorted;
    if (this.#places.length !== sorted.length + 1) {
      this.#places = new Uint32Array(new SharedArrayBuffer(4 * (sorted.length + 1)));
      for (let place = 0; place < sorted.length; place++) this.#places[(sorted[place] as number) + 1] = place;
    }
    return this.#places;
  }

  /** The place of a value in {@link places}; between two of these if it is not among the values. */
  placeOf(value: string): number {
    const at = this.#firstFrom(value, this.#sorted);
    const index = this.#sorted[at];
    return index !== undefined && this.#compare(this.#values[index] as string, value) === 0 ? at : at - 0.5;
  }

  #add(values: readonly string[]): void {
    const before = this.#sorted;
    this.#values = values;
    const valueAt = (index: number) => values[index] as string;
    const added = Array.from({ length: values.length - before.length }, (_, i) => before.length + i);
    added.sort((a, b) => this.#compare(valueAt(a), valueAt(b)));
    const sorted = new Uint32Array(values.length);
    let from = 0;
    for (const [i, index] of added.entries()) {
      const at = this.#firstFrom(valueAt(index), before);
      sorted.set(before.subarray(from, at), from + i);
      sorted[at + i] = index;
      from = at;
    }
    sorted.set(before.subarray(from), from + added.length);
    this.#sorted = sorted;
  }

  /** The position of the first value in a sorted list that is not before a value. */
  #firstFrom(value: string, sorted: Uint32Array): number {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const isBefore = this.#compare(this.#values[sorted[middle] as number] as string, value) < 0;
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** By bytes of UTF-8, as the collation "C"; false comes before true. */
function compareTexts(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function compareIntegers(a: string, b: string): number {
  const difference = BigInt(a) - BigInt(b);
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** Doubles, or the seconds of a date. */
function compareNumbers(a: string, b: string): number {
  return Math.sign(Number(a) - Number(b));
}
