import { type Rows, row } from '@akin/modules/internal/learn/rows';
import { timesTransposed, transpose } from './linear.ts';

/** The signature of a vector must find this many of its nearest neighbours. */
const NEIGHBOURS = 50;
const STEPS = 600;
/** With fewer vectors training would overfit, so the signature stays unchanged. */
const MIN_VECTORS = 1000;
/** Vectors in each step, neighbours of each, and other vectors from which they must differ. */
const ANCHORS = 128;
const NEAR = 6;
const OTHERS = 1500;
/**
 * A neighbour should be nearer than the mean of this many of the other vectors: those that share the most bits, 2 of
 * 100.
 */
const AHEAD = 30;
/** Steepness of the change of a bit from -1 to 1 during training: approaches the sign function. */
const STEEPNESS = 8;
const STEEPER = 3;
/** Margin by which neighbours should be nearer than other vectors, as a share of the bits. */
const LEAD = 0.015;
/** Parameters of Adam (Kingma & Ba 2015). */
const RATE = 0.005;
const [MOMENTUM, SQUARES] = [0.9, 0.99];

/**
 * Moves hyperplanes so that a vector shares more bits with its nearest neighbours than with nearly all others. Gradient
 * descent with softened signs (as in "Supervised hashing with kernels", Liu et al. 2012, but with distances instead of
 * labels). Modifies `planes` and `offsets`.
 */
export function refineSignature(
  vectors: Rows,
  planes: Float64Array,
  offsets: Float64Array,
  random: () => number,
  steps = STEPS,
): void {
  const { width, count } = vectors;
  if (count < MIN_VECTORS) return;
  const bits = offsets.length;
  const nearest = neighbours(vectors, NEIGHBOURS);
  const pick = (below: number) => Math.floor(random() * below);
  const movePlanes = adam(planes);
  const moveOffsets = adam(offsets);
  for (let step = 1; step <= steps; step++) {
    const anchors = Array.from({ length: ANCHORS }, () => pick(count));
    const near = anchors.flatMap((anchor) =>
      Array.from({ length: NEAR }, () => nearest[anchor * NEIGHBOURS + pick(NEIGHBOURS)] as number),
    );
    const others = Array.from({ length: OTHERS }, () => pick(count));
    const taken = [...anchors, ...near, ...others];
    const points = new Float64Array(taken.length * width);
    for (const [i, index] of taken.entries()) points.set(row(vectors, index), i * width);
    const steepness = STEEPNESS * (1 + ((STEEPER - 1) * step) / steps);
    const soft = timesTransposed(points, planes, width).map((value, i) =>
      Math.tanh(steepness * (value - (offsets[i % bits] as number))),
    );
    const nearOf = (anchor: number) => {
      const index = anchors[anchor] as number;
      const kept = new Set(nearest.subarray(index * NEIGHBOURS, (index + 1) * NEIGHBOURS)).add(index);
      return (other: number) => kept.has(others[other] as number);
    };
    const gradient = pull(soft, bits, nearOf);
    for (let i = 0; i < gradient.length; i++) {
      gradient[i] = (gradient[i] as number) * (1 - (soft[i] as number) ** 2) * steepness;
    }
    const columns = transpose(gradient, bits);
    const rate = (RATE * (steps - step + 1)) / steps;
    movePlanes(timesTransposed(columns, transpose(points, width), taken.length), rate, step);
    moveOffsets(
      Float64Array.from({ length: bits }, (_, bit) => {
        let sum = 0;
        for (let i = 0; i < taken.length; i++) sum -= columns[bit * taken.length + i] as number;
        return sum;
      }),
      rate,
      step,
    );
  }
}

/**
 * The gradient, by soft bits, of the mean of log(1 + exp((others' agreement - neighbour's agreement) / LEAD)), where
 * others' agreement is the mean of the AHEAD others that agree most.
 */
function pull(soft: Float64Array, bits: number, nearOf: (anchor: number) => (other: number) => boolean): Float64Array {
  const gradient = new Float64Array(soft.length);
  const othersFrom = ANCHORS * (1 + NEAR);
  const add = (to: number, from: number, factor: number) => {
    for (let bit = 0; bit < bits; bit++) {
      gradient[to * bits + bit] = (gradient[to * bits + bit] as number) + factor * (soft[from * bits + bit] as number);
    }
  };
  const agreement = (a: number, b: number) => {
    let sum = 0;
    for (let bit = 0; bit < bits; bit++) sum += (soft[a * bits + bit] as number) * (soft[b * bits + bit] as number);
    return sum / bits;
  };
  const agreements = new Float64Array(OTHERS);
  for (let anchor = 0; anchor < ANCHORS; anchor++) {
    const isNear = nearOf(anchor);
    for (let other = 0; other < OTHERS; other++) {
      agreements[other] = isNear(other) ? Number.NEGATIVE_INFINITY : agreement(anchor, othersFrom + other);
    }
    const closest = agreements.slice().sort().subarray(-AHEAD);
    const level = closest.reduce((sum, value) => sum + value, 0) / AHEAD;
    let push = 0;
    for (let k = 0; k < NEAR; k++) {
      const neighbour = ANCHORS + anchor * NEAR + k;
      const wrong = 1 / (1 + Math.exp((agreement(anchor, neighbour) - level) / LEAD));
      push += wrong;
      add(anchor, neighbour, -wrong);
      add(neighbour, anchor, -wrong);
    }
    const isAhead = (value: number) => value >= (closest[0] as number);
    // More than AHEAD if some are equal.
    const share = push / agreements.filter(isAhead).length;
    for (let other = 0; other < OTHERS; other++) {
      if (!isAhead(agreements[other] as number)) continue;
      add(anchor, othersFrom + other, share);
      add(othersFrom + other, anchor, share);
    }
  }
  return gradient;
}

/** The nearest other vectors of each row, unordered. */
function neighbours(vectors: Rows, kept: number): Uint32Array {
  const { count } = vectors;
  const result = new Uint32Array(count * kept);
  const near = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const own = row(vectors, i);
    for (let j = 0; j < count; j++) {
      const other = row(vectors, j);
      let sum = 0;
      for (let k = 0; k < own.length; k++) sum += (own[k] as number) * (other[k] as number);
      near[j] = j === i ? Number.NEGATIVE_INFINITY : sum;
    }
    const bound = near.slice().sort()[count - kept] as number;
    for (let j = 0, at = i * kept; j < count && at < (i + 1) * kept; j++) {
      if ((near[j] as number) >= bound) result[at++] = j;
    }
  }
  return result;
}

/** Moves values against a gradient, with a separate step size for each value. */
function adam(values: Float64Array): (gradient: Float64Array, rate: number, step: number) => void {
  const mean = new Float64Array(values.length);
  const square = new Float64Array(values.length);
  return (gradient, rate, step) => {
    for (let i = 0; i < values.length; i++) {
      const slope = gradient[i] as number;
      mean[i] = MOMENTUM * (mean[i] as number) + (1 - MOMENTUM) * slope;
      square[i] = SQUARES * (square[i] as number) + (1 - SQUARES) * slope * slope;
      const steady = (mean[i] as number) / (1 - MOMENTUM ** step);
      const spread = Math.sqrt((square[i] as number) / (1 - SQUARES ** step));
      values[i] = (values[i] as number) - (rate * steady) / (spread + 1e-8);
    }
  };
}
