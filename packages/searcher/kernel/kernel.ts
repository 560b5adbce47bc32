/*
 * The inner loops of the searcher, in AssemblyScript (`npm run kernel` compiles it). Its twin in plain TypeScript is
 * test/plain-kernel.ts: both give the same numbers.
 *
 * All arguments ending in "At" are addresses in the memory of the segment. Addresses of vectors are multiples of 16.
 */

/** Number of scattered rows that are fetched at a time, line by line. */
const AHEAD = 16;
const LINE: usize = 64;
/** Bytes of the factors of a row. */
const FACTORS: usize = 12;

/**
 * Finds the rows whose signs are near those of a query. The signs of 16 rows lie together: the first byte of each row,
 * then the second of each, and so on. Tables tell what four signs of a row add to its sum (as in André, Kermarrec and
 * Le Scouarnec, "Cache locality is not enough", 2015).
 *
 * @param bytes the bytes of the signs of a row, a multiple of 2
 * @param rows the number of rows, a multiple of 32, 8,192 at most
 * @param maskAt a bit for each row, lowest first
 * @param tablesAt 16 bytes for each four signs; what two bytes of signs add is 255 at most
 * @param most the greatest sum of a row that is found
 * @param outAt gets a u32 for each row that is found: its position in the lowest 13 bits, above them its sum. 32 bytes
 *   more than that are written
 * @returns the number of rows that are found
 */
export function nearSigns(
  codesAt: usize,
  bytes: i32,
  rows: i32,
  maskAt: usize,
  tablesAt: usize,
  most: i32,
  outAt: usize,
): i32 {
  const upper = i16x8.splat(-256);
  const bound = i16x8.splat(<i16>most);
  const size = (<usize>bytes) << 4;
  let out = outAt;
  // Two times 16 rows share each read of the tables.
  for (let row = 0; row < rows; row += 32) {
    const masks = load<u32>(maskAt + (<usize>(row >> 3)));
    if (masks === 0) continue;
    const at = codesAt + <usize>row * (<usize>bytes);
    let all0 = i16x8.splat(0);
    let odd0 = i16x8.splat(0);
    let all1 = i16x8.splat(0);
    let odd1 = i16x8.splat(0);
    let table = tablesAt;
    for (let code = at; code < at + size; code += 32) {
      const a = v128.load(table);
      const b = v128.load(table, 16);
      const c = v128.load(table, 32);
      const d = v128.load(table, 48);
      const first = addFour(v128.load(code), v128.load(code, 16), a, b, c, d);
      const second = addFour(v128.load(code + size), v128.load(code + size, 16), a, b, c, d);
      // `all` has the sums of even rows, plus 256 times the sums of the next rows. `odd` has the sums of odd rows
      // alone.
      all0 = i16x8.add(all0, first);
      odd0 = i16x8.add(odd0, i16x8.shr_u(first, 8));
      all1 = i16x8.add(all1, second);
      odd1 = i16x8.add(odd1, i16x8.shr_u(second, 8));
      table += 64;
    }
    for (let half = 0; half < 32; half += 16) {
      const odd = half === 0 ? odd0 : odd1;
      const even = i16x8.sub(half === 0 ? all0 : all1, i16x8.shl(odd, 8));
      const near = v128.bitselect(i16x8.le_u(odd, bound), i16x8.le_u(even, bound), upper);
      let found = i8x16.bitmask(near) & <i32>((masks >>> half) & 0xffff);
      if (found === 0) continue;
      v128.store(out, even);
      v128.store(out, odd, 16);
      // The sums are read before the found rows overwrite them.
      const evens0 = load<u64>(out);
      const evens1 = load<u64>(out, 8);
      const odds0 = load<u64>(out, 16);
      const odds1 = load<u64>(out, 24);
      while (found !== 0) {
        const lane = ctz(found);
        found &= found - 1;
        const four = lane & 1 ? (lane & 8 ? odds1 : odds0) : lane & 8 ? evens1 : evens0;
        const sum = <u32>(four >> (<u64>((lane >> 1) & 3) << 4)) & 0xffff;
        store<u32>(out, (sum << 13) | (row + half + lane));
        out += 4;
      }
    }
  }
  return <i32>((out - outAt) >> 2);
}

/**
 * What two bytes of signs of 16 rows add to the sums of these rows, by the tables of their four half-bytes. It is one
 * byte for each row.
 */
function addFour(first: v128, second: v128, a: v128, b: v128, c: v128, d: v128): v128 {
  const low = i8x16.splat(15);
  return i8x16.add(
    i8x16.add(
      i8x16.swizzle(a, v128.and(first, low)),
      i8x16.swizzle(b, v128.and(i16x8.shr_u(first, 4), low)),
    ),
    i8x16.add(
      i8x16.swizzle(c, v128.and(second, low)),
      i8x16.swizzle(d, v128.and(i16x8.shr_u(second, 4), low)),
    ),
  );
}

/**
 * Dot products of a query with levels of 4 bits, each 0 to 15.
 *
 * @param stride bytes of a row: 16 for each 32 numbers, of which the low halves hold the first 16
 * @param factorsAt three f32 for each row, which the caller reads next
 * @param rowsAt a u32 for each row: its number
 * @param queryAt i16 for each number, as many as the levels have
 * @param outAt gets an i32 for each row
 */
export function levelDots(
  levelsAt: usize,
  stride: usize,
  factorsAt: usize,
  rowsAt: usize,
  count: i32,
  queryAt: usize,
  outAt: usize,
): void {
  const low = i8x16.splat(15);
  for (let i = 0; i < count; i++) {
    if ((i & (AHEAD - 1)) === 0) fetch(levelsAt, stride, factorsAt, rowsAt, i, min(i + AHEAD, count), outAt);
    const at = levelsAt + <usize>load<u32>(rowsAt + ((<usize>i) << 2)) * stride;
    let sum = i32x4.splat(0);
    for (let byte: usize = 0; byte < stride; byte += 16) {
      const both = v128.load(at + byte);
      const first = v128.and(both, low);
      // Shifting 16 bits and masking takes fewer instructions than shifting each byte.
      const second = v128.and(i16x8.shr_u(both, 4), low);
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

/**
 * Reads a byte of each cache line of some rows. So the processor waits for many lines at once, not for one after the
 * other.
 */
function fetch(
  levelsAt: usize,
  stride: usize,
  factorsAt: usize,
  rowsAt: usize,
  from: i32,
  to: i32,
  outAt: usize,
): void {
  for (let i = from; i < to; i++) {
    const row = <usize>load<u32>(rowsAt + ((<usize>i) << 2));
    const at = levelsAt + row * stride;
    let bits: u32 = load<u8>(factorsAt + row * FACTORS);
    for (let byte: usize = 0; byte < stride; byte += LINE) bits |= load<u8>(at + byte);
    // The compiler would remove reads whose result is unused, so the result is stored. Later the row's product
    // overwrites it.
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
 * @param count the number of the f32 numbers, a multiple of 8
 * @returns the sum of their magnitudes divided by their length; 0 where all are 0
 */
export function signBits(at: usize, count: i32, outAt: usize): f64 {
  const zero = f32x4.splat(0);
  let squares = f64x2.splat(0);
  let sums = f64x2.splat(0);
  for (let i = 0; i < count; i += 8) {
    const from = at + ((<usize>i) << 2);
    const first = v128.load(from);
    const second = v128.load(from, 16);
    const both = f32x4.add(f32x4.abs(first), f32x4.abs(second));
    const square = f32x4.add(f32x4.mul(first, first), f32x4.mul(second, second));
    sums = f64x2.add(sums, f64x2.add(lowHalf(both), highHalf(both)));
    squares = f64x2.add(squares, f64x2.add(lowHalf(square), highHalf(square)));
    const low = i32x4.bitmask(f32x4.gt(first, zero));
    const high = i32x4.bitmask(f32x4.gt(second, zero));
    store<u8>(outAt + <usize>(i >> 3), low | (high << 4));
  }
  const length = Math.sqrt(f64x2.extract_lane(squares, 0) + f64x2.extract_lane(squares, 1));
  if (length === 0) return 0;
  return (f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1)) / length;
}

@inline
function lowHalf(numbers: v128): v128 {
  return f64x2.promote_low_f32x4(numbers);
}

@inline
function highHalf(numbers: v128): v128 {
  return f64x2.promote_low_f32x4(v128.shuffle<f32>(numbers, numbers, 2, 3, 2, 3));
}

/**
 * Levels of numbers, four bits each, laid out as levelDots reads them.
 *
 * @param count the number of the f32 numbers. The numbers after them, up to a multiple of 32, are 0
 * @param step between two levels, as a share of the numbers' deviation
 * @param outAt gets the levels, 16 bytes for each 32 numbers
 * @param factorsAt gets three f32: the scale of the levels, the length of the vector for which they stand, and the
 *   length of the rest. Nothing is written if all numbers are 0
 */
export function encodeLevels(at: usize, count: i32, step: f64, outAt: usize, factorsAt: usize): void {
  const blocks = (count + 31) >> 5;
  const end = at + ((<usize>blocks) << 7);
  let squares = f64x2.splat(0);
  for (let from = at; from < end; from += 16) {
    const numbers = v128.load(from);
    const low = lowHalf(numbers);
    const high = highHalf(numbers);
    squares = f64x2.add(f64x2.add(squares, f64x2.mul(low, low)), f64x2.mul(high, high));
  }
  const square = f64x2.extract_lane(squares, 0) + f64x2.extract_lane(squares, 1);
  if (square === 0) return;
  // The choice of a level need not be exact, because all later values are computed from the chosen levels.
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
        const low = f64x2.mul(f64x2.convert_low_i32x4_s(odd), lowHalf(numbers));
        const high = f64x2.mul(f64x2.convert_low_i32x4_s(v128.shuffle<i32>(odd, odd, 2, 3, 2, 3)), highHalf(numbers));
        products = f64x2.add(f64x2.add(products, low), high);
        // Appends the four levels as the last bytes, and moves the earlier bytes forward.
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
    // Each zero after the numbers has the square 1.
    count -
    (blocks << 5));
  store<f32>(factorsAt, <f32>(product / levelSquare));
  store<f32>(factorsAt, <f32>(product / Math.sqrt(levelSquare)), 4);
  store<f32>(factorsAt, <f32>Math.sqrt(Math.max(0, square - (product * product) / levelSquare)), 8);
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

/**
 * Finds the codes that differ from a query in few bits.
 *
 * @param codesAt the codes, one after the other
 * @param bytes of a code: 4 or 16
 * @param count number of codes, less than 2^22
 * @param most the greatest number of different bits, 511 at most
 * @param outAt gets a u32 for each code that is found: its position, above the lowest 9 bits, in which is its number of
 *   different bits. 4 bytes more than that are written
 * @returns the number of codes that are found
 */
export function nearCodes(codesAt: usize, bytes: i32, count: i32, queryAt: usize, most: i32, outAt: usize): i32 {
  let out = outAt;
  let at = codesAt;
  if (bytes === 4) {
    const signature = load<u32>(queryAt);
    for (let i = 0; i < count; i++) {
      out = found(out, i, popcnt<u32>(load<u32>(at) ^ signature), most);
      at += 4;
    }
  } else {
    const first = load<u64>(queryAt);
    const second = load<u64>(queryAt, 8);
    for (let i = 0; i < count; i++) {
      out = found(out, i, popcnt<u64>(load<u64>(at) ^ first) + popcnt<u64>(load<u64>(at, 8) ^ second), most);
      at += 16;
    }
  }
  return <i32>((out - outAt) >> 2);
}

/** Writes a code, and where the next one goes: without a branch, which would often be predicted wrongly. */
@inline
function found(out: usize, i: i32, differences: u64, most: i32): usize {
  store<u32>(out, (<u32>i << 9) | <u32>differences);
  return out + (<usize>(<i32>differences <= most) << 2);
}

/**
 * Finds the codes that differ from a query in the fewest bits.
 *
 * @param codesAt codes of 8 bytes each
 * @param count number of codes, at most 256
 * @param wanted how many are found, at least 1
 * @param outAt gets a u32 for each, the nearest first: 256 times the number of different bits, plus its position
 */
export function nearestCodes(codesAt: usize, count: i32, queryAt: usize, wanted: i32, outAt: usize): void {
  const query = load<u64>(queryAt);
  const last = outAt + (<usize>(wanted - 1) << 2);
  for (let out = outAt; out <= last; out += 4) store<u32>(out, 0xffffffff);
  let most: u32 = 0xffffffff;
  for (let i = 0; i < count; i++) {
    const key = (<u32>popcnt<u64>(load<u64>(codesAt + (<usize>i << 3)) ^ query) << 8) | <u32>i;
    if (key >= most) continue;
    let out = last;
    for (; out > outAt && load<u32>(out - 4) > key; out -= 4) store<u32>(out, load<u32>(out - 4));
    store<u32>(out, key);
    most = load<u32>(last);
  }
}
