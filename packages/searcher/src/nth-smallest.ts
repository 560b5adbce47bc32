/** Returns the n-th smallest number, n from 1; Infinity if there are no more than n. Quickselect (Hoare 1961). */
export function nthSmallest(numbers: ArrayLike<number>, n: number): number {
  if (numbers.length <= n) return Number.POSITIVE_INFINITY;
  const sorted = new Float64Array(numbers);
  const k = Math.max(0, n - 1);
  let [left, right] = [0, sorted.length - 1];
  while (left < right) {
    const pivot = sorted[(left + right) >>> 1] as number;
    let [i, j] = [left, right];
    while (i <= j) {
      while ((sorted[i] as number) < pivot) i++;
      while ((sorted[j] as number) > pivot) j--;
      if (i > j) break;
      [sorted[i], sorted[j]] = [sorted[j] as number, sorted[i] as number];
      i++;
      j--;
    }
    if (k <= j) right = j;
    else if (k >= i) left = i;
    else break;
  }
  return sorted[k] as number;
}
