/** Measures of rankings. */

/** The inner product: for unit vectors 1 minus half the squared distance. */
export function similarity(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/**
 * Average precision of a ranking: the mean, over the relevant results, of the precision up to that result. NaN without
 * relevant results.
 */
export function averagePrecision(relevant: readonly boolean[]): number {
  let found = 0;
  let sum = 0;
  for (const [i, is] of relevant.entries()) {
    if (!is) continue;
    found++;
    sum += found / (i + 1);
  }
  return sum / found;
}

/**
 * Average precision of matching and non-matching similarities; equal similarities form one step. Both lists are sorted
 * by descending similarity.
 */
export function averagePrecisionOf(same: Float64Array, different: Float64Array): number {
  let sum = 0;
  for (let i = 0, wrong = 0; i < same.length; ) {
    const at = same[i] as number;
    const from = i;
    while (i < same.length && same[i] === at) i++;
    while (wrong < different.length && (different[wrong] as number) >= at) wrong++;
    sum += ((i - from) * i) / (i + wrong);
  }
  return sum / same.length;
}

/** Spearman's rank correlation; equal values share their ranks. NaN if one side is constant. */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number {
  return correlation(ranks(a), ranks(b));
}

function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((i, j) => (values[i] as number) - (values[j] as number));
  const result = new Array<number>(values.length).fill(0);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to < order.length && values[order[to] as number] === values[order[from] as number]) to++;
    for (let i = from; i < to; i++) result[order[i] as number] = (from + to - 1) / 2;
    from = to;
  }
  return result;
}

function correlation(a: readonly number[], b: readonly number[]): number {
  const middle = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanA, meanB] = [middle(a), middle(b)];
  let both = 0;
  let ofA = 0;
  let ofB = 0;
  for (const [i, value] of a.entries()) {
    const da = value - meanA;
    const db = (b[i] as number) - meanB;
    both += da * db;
    ofA += da * da;
    ofB += db * db;
  }
  return both / Math.sqrt(ofA * ofB);
}

export function meanOf(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}
