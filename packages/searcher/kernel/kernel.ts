/*
 * The inner loops of the searcher, in AssemblyScript (`npm run kernel` makes kernel.wasm of it). Its twin in plain
 * TypeScript is src/plain-kernel.ts: both give the same numbers.
 *
 * All arguments ending in "At" are addresses in the memory of the segment. Addresses of vectors are multiples of 16.
 */

/** Rows that lie anywhere are fetched so many at a time, line by line. */
const AHEAD = 16;
const LINE: usize = 64;

/** How many bits differ between a row and the query, in eight parts. */
@inline
function differing(at: usize, stride: usize, queryAt: usize): v128 {
  let bits = i8x16.popcnt(v128.xor(v128.load(at), v128.load(queryAt)));
  for (let word: usize = 16; word < stride; word += 16) {
    bits = i8x16.add(bits, i8x16.popcnt(v128.xor(v128.load(at + word), v128.load(queryAt + word))));
  }
  return i16x8.extadd_pairwise_i8x16_u(bits);
}

/** Sums of neighbours, of one row and of another. */
@inline
function pairs(a: v128, b: v128): v128 {
  return i16x8.narrow_i32x4_s(i32x4.extadd_pairwise_i16x8_s(a), i32x4.extadd_pairwise_i16x8_s(b));
}

/**
 * Hamming distances between the signs of a query and those of each row, eight rows at a time.
 *
 * @param words 16-byte words of a row
 * @param rows how many, a multiple of 8
 * @param maskAt a bit for each row, lowest first; rows without get 0xffff
 * @param outAt gets a u16 for each row
 * @param histogramAt u32 for each distance: gets one more for each row; the one behind the last becomes 0
 */
export function hamming(
  codesAt: usize,
  words: i32,
  rows: i32,
  maskAt: usize,
  queryAt: usize,
  outAt: usize,
  histogramAt: usize,
): void {
  const stride = (<usize>words) << 4;
  const none = i16x8.splat(-1);
  const zero = i16x8.splat(0);
  const bit = i16x8(1, 2, 4, 8, 16, 32, 64, 128);
  // Rows that are left out are counted behind the last distance.
  const outside = (words << 7) + 1;
  const most = i16x8.splat(<i16>outside);
  for (let row = 0; row < rows; row += 8) {
    const mask = load<u8>(maskAt + <usize>(row >> 3));
    const out = outAt + ((<usize>row) << 1);
    if (mask === 0) {
      v128.store(out, none);
      continue;
    }
    const at = codesAt + <usize>row * stride;
    const ab = pairs(differing(at, stride, queryAt), differing(at + stride, stride, queryAt));
    const cd = pairs(differing(at + 2 * stride, stride, queryAt), differing(at + 3 * stride, stride, queryAt));
    const ef = pairs(differing(at + 4 * stride, stride, queryAt), differing(at + 5 * stride, stride, queryAt));
    const gh = pairs(differing(at + 6 * stride, stride, queryAt), differing(at + 7 * stride, stride, queryAt));
    const distances = v128.or(
      pairs(pairs(ab, cd), pairs(ef, gh)),
      i16x8.eq(v128.and(i16x8.splat(<i16>mask), bit), zero),
    );
    v128.store(out, distances);
    const places = i16x8.min_u(distances, most);
    count(histogramAt, i16x8.extract_lane_u(places, 0));
    count(histogramAt, i16x8.extract_lane_u(places, 1));
    count(histogramAt, i16x8.extract_lane_u(places, 2));
    count(histogramAt, i16x8.extract_lane_u(places, 3));
    count(histogramAt, i16x8.extract_lane_u(places, 4));
    count(histogramAt, i16x8.extract_lane_u(places, 5));
    count(histogramAt, i16x8.extract_lane_u(places, 6));
    count(histogramAt, i16x8.extract_lane_u(places, 7));
  }
  store<u32>(histogramAt + ((<usize>outside) << 2), 0);
}

@inline
function count(histogramAt: usize, place: u32): void {
  const at = histogramAt + ((<usize>place) << 2);
  store<u32>(at, load<u32>(at) + 1);
}

/**
 * The rows of a block up to a distance.
 *
 * @param distancesAt a u16 for each row, as `hamming` writes them
 * @param rows how many, a multiple of 8, 8,192 at most
 * @param outAt gets a u32 for each that is found: its place in the lowest 13 bits, above them its distance
 * @returns how many are found
 */
export function nearer(distancesAt: usize, rows: i32, most: i32, outAt: usize): i32 {
  const bound = i16x8.splat(<i16>most);
  let out = outAt;
  for (let row = 0; row < rows; row += 8) {
    const at = distancesAt + ((<usize>row) << 1);
    let found = i16x8.bitmask(i16x8.le_u(v128.load(at), bound));
    while (found !== 0) {
      const lane = ctz(found);
      found &= found - 1;
      const distance = <u32>load<u16>(at + ((<usize>lane) << 1));
      store<u32>(out, (distance << 13) | (row + lane));
      out += 4;
    }
  }
  return <i32>((out - outAt) >> 2);
}

/**
 * Dot products of a query of 4 bits a number with the signs of each row, as ones and zeros.
 *
 * @param words 16-byte words of a row
 * @param planesAt bit 0 of each number of the query, laid out as the signs of a row; then bits 1, 2 and 3; then a one
 *   for each number
 * @param outAt gets a u32 for each row that the mask has: in its upper 14 bits how many signs are ones, below the product
 */
export function signDots(codesAt: usize, words: i32, rows: i32, maskAt: usize, planesAt: usize, outAt: usize): void {
  const stride = (<usize>words) << 4;
  for (let i = 0; i < rows; i++) {
    if (!((load<u32>(maskAt + ((<usize>(i >> 5)) << 2)) >> (i & 31)) & 1)) continue;
    const at = codesAt + <usize>i * stride;
    let sum: i32 = 0;
    let ones: i32 = 0;
    for (let plane = 4; plane >= 0; plane--) {
      const planeAt = planesAt + <usize>plane * stride;
      let bits = i8x16.popcnt(v128.and(v128.load(at), v128.load(planeAt)));
      for (let word: usize = 16; word < stride; word += 16) {
        bits = i8x16.add(bits, i8x16.popcnt(v128.and(v128.load(at + word), v128.load(planeAt + word))));
      }
      const sums = i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(bits));
      const count =
        i32x4.extract_lane(sums, 0) +
        i32x4.extract_lane(sums, 1) +
        i32x4.extract_lane(sums, 2) +
        i32x4.extract_lane(sums, 3);
      if (plane === 4) ones = count;
      else sum = 2 * sum + count;
    }
    store<i32>(outAt + ((<usize>i) << 2), sum | (ones << 18));
  }
}

/**
 * Dot products of a query with levels of 4 bits, each 0 to 15.
 *
 * @param stride bytes of a row: 16 for each 32 numbers, of which the low halves hold the first 16
 * @param rowsAt u32: which rows
 * @param queryAt i16 for each number, as many as the levels have
 * @param outAt gets an i32 for each
 */
export function levelDots(
  levelsAt: usize,
  stride: usize,
  rowsAt: usize,
  count: i32,
  queryAt: usize,
  outAt: usize,
): void {
  const low = i8x16.splat(15);
  for (let i = 0; i < count; i++) {
    if ((i & (AHEAD - 1)) === 0) fetch(levelsAt, stride, rowsAt, i, min(i + AHEAD, count), outAt);
    const at = levelsAt + <usize>load<u32>(rowsAt + ((<usize>i) << 2)) * stride;
    let sum = i32x4.splat(0);
    for (let byte: usize = 0; byte < stride; byte += 16) {
      const both = v128.load(at + byte);
      const first = v128.and(both, low);
      const second = i8x16.shr_u(both, 4);
      const query = queryAt + (byte << 2);
      sum = i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_u(first), v128.load(query)));
      sum = i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_u(first), v128.load(query, 16)));
      sum = i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_u(second), v128.load(query, 32)));
      sum = i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_u(second), v128.load(query, 48)));
    }
    store<i32>(
      outAt + ((<usize>i) << 2),
      i32x4.extract_lane(sum, 0) + i32x4.extract_lane(sum, 1) + i32x4.extract_lane(sum, 2) + i32x4.extract_lane(sum, 3),
    );
  }
}

/** Reads a byte of each line of some rows: the processor waits for many of them at once, and not for one after the other. */
function fetch(levelsAt: usize, stride: usize, rowsAt: usize, from: i32, to: i32, outAt: usize): void {
  for (let i = from; i < to; i++) {
    const at = levelsAt + <usize>load<u32>(rowsAt + ((<usize>i) << 2)) * stride;
    let bits: u32 = 0;
    for (let byte: usize = 0; byte < stride; byte += LINE) bits |= load<u8>(at + byte);
    // A read that nothing uses would be left out; the row's product takes its place.
    store<u32>(outAt + ((<usize>i) << 2), bits);
  }
}

/**
 * Squared distances between a query and vectors of f32.
 *
 * @param stride bytes of a row, a multiple of 16
 * @param outAt gets an f32 for each row
 */
export function squares(vectorsAt: usize, stride: usize, rows: i32, maskAt: usize, queryAt: usize, outAt: usize): void {
  for (let i = 0; i < rows; i++) {
    if (!((load<u32>(maskAt + ((<usize>(i >> 5)) << 2)) >> (i & 31)) & 1)) continue;
    const at = vectorsAt + <usize>i * stride;
    let sum = f32x4.splat(0);
    for (let byte: usize = 0; byte < stride; byte += 16) {
      const difference = f32x4.sub(v128.load(at + byte), v128.load(queryAt + byte));
      sum = f32x4.add(sum, f32x4.mul(difference, difference));
    }
    store<f32>(
      outAt + ((<usize>i) << 2),
      f32x4.extract_lane(sum, 0) +
        f32x4.extract_lane(sum, 1) +
        (f32x4.extract_lane(sum, 2) + f32x4.extract_lane(sum, 3)),
    );
  }
}

/**
 * Multiplies `length` f32 numbers, a power of two from 4 on, by others, and transforms them in place.
 */
export function rotate(at: usize, signsAt: usize, length: i32): void {
  for (let i: usize = 0; i < (<usize>length) << 2; i += 16) {
    v128.store(at + i, f32x4.mul(v128.load(at + i), v128.load(signsAt + i)));
  }
  hadamard(at, length);
}

/**
 * The signs of numbers: a bit for each, lowest first, that is set where it is greater than 0.
 *
 * @param count of the f32 numbers, a multiple of 8
 */
export function signBits(at: usize, count: i32, outAt: usize): void {
  const zero = f32x4.splat(0);
  for (let i = 0; i < count; i += 8) {
    const from = at + ((<usize>i) << 2);
    const low = i32x4.bitmask(f32x4.gt(v128.load(from), zero));
    const high = i32x4.bitmask(f32x4.gt(v128.load(from, 16), zero));
    store<u8>(outAt + <usize>(i >> 3), low | (high << 4));
  }
}

/**
 * Levels of numbers, four bits each, laid out as levelDots reads them.
 *
 * @param count of the f32 numbers; those behind them are 0 up to a multiple of 32
 * @param step between two levels, as a share of the numbers' deviation
 * @param outAt gets the levels, 16 bytes for each 32 numbers
 * @param factorsAt gets three f32: the scale of the levels, the length of what they stand for, and that of the rest
 * @returns the cosine of the angle between the numbers and their signs; nothing is written where all numbers are 0
 */
export function encodeLevels(at: usize, count: i32, step: f64, outAt: usize, factorsAt: usize): f64 {
  const blocks = (count + 31) >> 5;
  const end = at + ((<usize>blocks) << 7);
  let squares = f64x2.splat(0);
  let sums = f64x2.splat(0);
  for (let from = at; from < end; from += 16) {
    const numbers = v128.load(from);
    const low = f64x2.promote_low_f32x4(numbers);
    const high = f64x2.promote_low_f32x4(v128.shuffle<f32>(numbers, numbers, 2, 3, 2, 3));
    squares = f64x2.add(f64x2.add(squares, f64x2.mul(low, low)), f64x2.mul(high, high));
    sums = f64x2.add(f64x2.add(sums, f64x2.abs(low)), f64x2.abs(high));
  }
  const square = f64x2.extract_lane(squares, 0) + f64x2.extract_lane(squares, 1);
  const sum = f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1);
  if (square === 0) return 1;
  // Which level a number gets need not be exact: what follows is computed from the levels.
  const scale = f32x4.splat(<f32>(1 / (step * Math.sqrt(square / <f64>count))));
  let products = f64x2.splat(0);
  let levelSquares = i32x4.splat(0);
  for (let block: usize = 0; block < <usize>blocks; block++) {
    let packed = i8x16.splat(0);
    for (let half: usize = 0; half < 2; half++) {
      let bytes = i8x16.splat(0);
      for (let quarter: usize = 0; quarter < 4; quarter++) {
        const numbers = v128.load(at + (block << 7) + (half << 6) + (quarter << 4));
        const steps = i32x4.trunc_sat_f32x4_s(f32x4.floor(f32x4.mul(numbers, scale)));
        const levels = i32x4.add(i32x4.max_s(i32x4.min_s(steps, i32x4.splat(7)), i32x4.splat(-8)), i32x4.splat(8));
        // Each level stands for the middle of its step: an odd number of half steps.
        const odd = i32x4.sub(i32x4.shl(levels, 1), i32x4.splat(15));
        levelSquares = i32x4.add(levelSquares, i32x4.mul(odd, odd));
        const low = f64x2.mul(f64x2.convert_low_i32x4_s(odd), f64x2.promote_low_f32x4(numbers));
        const high = f64x2.mul(
          f64x2.convert_low_i32x4_s(v128.shuffle<i32>(odd, odd, 2, 3, 2, 3)),
          f64x2.promote_low_f32x4(v128.shuffle<f32>(numbers, numbers, 2, 3, 2, 3)),
        );
        products = f64x2.add(f64x2.add(products, low), high);
        // The four levels become the last bytes; those before them move on.
        const words = i16x8.narrow_i32x4_s(levels, levels);
        bytes = v128.shuffle<i32>(bytes, i8x16.narrow_i16x8_u(words, words), 1, 2, 3, 4);
      }
      packed = v128.or(packed, half === 0 ? bytes : i8x16.shl(bytes, 4));
    }
    v128.store(outAt + (block << 4), packed);
  }
  const product = f64x2.extract_lane(products, 0) + f64x2.extract_lane(products, 1);
  const levelSquare = <f64>(i32x4.extract_lane(levelSquares, 0) +
    i32x4.extract_lane(levelSquares, 1) +
    i32x4.extract_lane(levelSquares, 2) +
    i32x4.extract_lane(levelSquares, 3) +
    // Each zero behind the numbers has the square 1.
    count -
    (blocks << 5));
  store<f32>(factorsAt, <f32>(product / levelSquare));
  store<f32>(factorsAt, <f32>(product / Math.sqrt(levelSquare)), 4);
  store<f32>(factorsAt, <f32>Math.sqrt(Math.max(0, square - (product * product) / levelSquare)), 8);
  return sum / Math.sqrt(square * <f64>count);
}

/** The Walsh-Hadamard transform of `length` f32 numbers, a power of two from 4 on, in place and not normalized. */
function hadamard(at: usize, length: i32): void {
  const end = at + ((<usize>length) << 2);
  for (let i = at; i < end; i += 16) {
    let v = v128.load(i);
    // Pairs (0 1)(2 3), then (0 2)(1 3).
    let swapped = v128.shuffle<f32>(v, v, 1, 0, 3, 2);
    v = f32x4.add(swapped, f32x4.mul(v, f32x4(1, -1, 1, -1)));
    swapped = v128.shuffle<f32>(v, v, 2, 3, 0, 1);
    v = f32x4.add(swapped, f32x4.mul(v, f32x4(1, 1, -1, -1)));
    v128.store(i, v);
  }
  for (let half: usize = 16; half < (<usize>length) << 2; half <<= 1) {
    for (let block = at; block < end; block += half << 1) {
      for (let i = block; i < block + half; i += 16) {
        const a = v128.load(i);
        const b = v128.load(i + half);
        v128.store(i, f32x4.add(a, b));
        v128.store(i + half, f32x4.sub(a, b));
      }
    }
  }
}
