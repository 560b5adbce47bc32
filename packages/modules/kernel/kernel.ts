/*
 * The inner loops of the module parts, in AssemblyScript (`npm run kernel` compiles it). Its twin in plain TypeScript is
 * test/plain-kernel.ts: both give the same numbers.
 *
 * All arguments ending in "At" are addresses. Pictures are gray, a byte a pixel, without gaps between rows. 32 bytes
 * after a picture may be read.
 */

/** Patches around points reach this far, and no corner is nearer to the border. */
const BORDER = 19;
/** Radius of the disc whose moments give the orientation of a point. */
const RADIUS = 15;

/**
 * Resizes by bilinear interpolation, for factors near 1. Writes up to 3 bytes more.
 *
 * @param rowAt 2 bytes for each pixel of a source row, and 16 more
 * @param columnsAt 8 bytes for each pixel of a target row, and 24 more
 */
export function resize(
  from: usize,
  width: i32,
  height: i32,
  to: usize,
  newWidth: i32,
  newHeight: i32,
  rowAt: usize,
  columnsAt: usize,
): void {
  const across = <f64>width / <f64>newWidth;
  const down = <f64>height / <f64>newHeight;
  // Four pixels at a time: where each begins in the row, and how much both of its neighbours count.
  const fours = (newWidth + 3) & ~3;
  const sharesAt = columnsAt + (<usize>fours << 2);
  for (let x = 0; x < fours; x++) {
    const column = place(min(x, newWidth - 1), across, width);
    const share = column & 127;
    store<u32>(columnsAt + (<usize>x << 2), (column >> 7) << 1);
    store<u32>(sharesAt + (<usize>x << 2), (128 - share) | (share << 16));
  }
  for (let y = 0; y < newHeight; y++) {
    const at = place(y, down, height);
    const first = from + <usize>(<i32>(at >> 7) * width);
    const second = <i32>(at >> 7) + 1 < height ? first + width : first;
    const lower = i16x8.splat(<i16>(at & 127));
    const upper = i16x8.sub(i16x8.splat(128), lower);
    for (let x = 0; x < width; x += 8) {
      const high = i16x8.mul(v128.load_ext<u8>(first + x), upper);
      const low = i16x8.mul(v128.load_ext<u8>(second + x), lower);
      v128.store(rowAt + (<usize>x << 1), i16x8.add(high, low));
    }
    store<u16>(rowAt + (<usize>width << 1), load<u16>(rowAt + (<usize>(width - 1) << 1)));
    const out = to + <usize>(y * newWidth);
    for (let x = 0; x < fours; x += 4) {
      const columns = columnsAt + (<usize>x << 2);
      let pairs = i32x4.splat(load<i32>(rowAt + load<u32>(columns)));
      pairs = v128.load_lane<u32>(rowAt + load<u32>(columns, 4), pairs, 1);
      pairs = v128.load_lane<u32>(rowAt + load<u32>(columns, 8), pairs, 2);
      pairs = v128.load_lane<u32>(rowAt + load<u32>(columns, 12), pairs, 3);
      const sums = i32x4.dot_i16x8_s(pairs, v128.load(sharesAt + (<usize>x << 2)));
      const words = i16x8.narrow_i32x4_u(i32x4.shr_u(sums, 14), i32x4.splat(0));
      store<u32>(out + x, i32x4.extract_lane(i8x16.narrow_i16x8_u(words, words), 0));
    }
  }
}

/** The source pixel of a target pixel, times 128. */
@inline
function place(target: i32, factor: f64, size: i32): u32 {
  const at = (<f64>target + 0.5) * factor - 0.5;
  return <u32>(Math.max(0, Math.min(<f64>(size - 1), at)) * 128);
}

/**
 * Means of 5 x 5 pixels; the outermost two of each side are left out, and may get anything.
 *
 * @param rowAt 2 bytes for each pixel of a row, and 32 more
 */
export function blur(from: usize, width: i32, height: i32, to: usize, rowAt: usize): void {
  const below = <usize>width;
  const fraction = i16x8.splat(2622);
  for (let y = 2; y < height - 2; y++) {
    const row = from + <usize>(y * width);
    for (let x = 0; x < width; x += 8) {
      const at = row + x;
      const above = i16x8.add(v128.load_ext<u8>(at - 2 * below), v128.load_ext<u8>(at - below));
      const under = i16x8.add(v128.load_ext<u8>(at + below), v128.load_ext<u8>(at + 2 * below));
      v128.store(rowAt + (<usize>x << 1), i16x8.add(v128.load_ext<u8>(at), i16x8.add(above, under)));
    }
    const out = to + <usize>(y * width);
    for (let x = 2; x < width - 2; x += 8) {
      const at = rowAt + (<usize>(x - 2) << 1);
      const left = i16x8.add(v128.load(at), v128.load(at, 2));
      const right = i16x8.add(v128.load(at, 6), v128.load(at, 8));
      const sums = i16x8.add(v128.load(at, 4), i16x8.add(left, right));
      // Divided by 25.
      const low = i32x4.shr_u(i32x4.extmul_low_i16x8_u(sums, fraction), 16);
      const high = i32x4.shr_u(i32x4.extmul_high_i16x8_u(sums, fraction), 16);
      const words = i16x8.narrow_i32x4_u(low, high);
      v128.store_lane<u64>(out + x, i8x16.narrow_i16x8_u(words, words), 0);
    }
  }
}

/**
 * Corners: pixels with nine neighbours in a row, on a circle of 16, that are all brighter or all darker (FAST, Rosten
 * and Drummond 2006), and of these the locally strongest, with the measure of Harris and Stephens (1988).
 *
 * @param step by how much the neighbours differ at least
 * @param scoresAt 2 bytes for each pixel of the picture
 * @param foundAt 4 bytes for each pixel
 * @param outAt gets a u32 and an f32 for each corner: its pixel, and its response
 * @returns the number of corners, a quarter of the pixels at most
 */
export function corners(
  at: usize,
  width: i32,
  height: i32,
  step: i32,
  scoresAt: usize,
  foundAt: usize,
  outAt: usize,
): i32 {
  memory.fill(scoresAt, 0, <usize>(width * height) << 1);
  const found = candidates(at, width, height, step, scoresAt, foundAt);
  let out = outAt;
  for (let i = 0; i < found; i++) {
    const pixel = load<u32>(foundAt + (<usize>i << 2));
    const score = scoresAt + (<usize>pixel << 1);
    const own = load<u16>(score);
    const row = <usize>width << 1;
    if (own < load<u16>(score - 2) || own <= load<u16>(score, 2)) continue;
    if (own < load<u16>(score - row) || own <= load<u16>(score + row)) continue;
    if (own < load<u16>(score - row - 2) || own <= load<u16>(score - row, 2)) continue;
    if (own < load<u16>(score + row - 2) || own <= load<u16>(score + row, 2)) continue;
    const response = harris(at + pixel, width);
    if (response <= 0) continue;
    store<u32>(out, pixel);
    store<f32>(out, <f32>response, 4);
    out += 8;
  }
  return <i32>((out - outAt) >> 3);
}

/** Writes the scores of corners and finds them, 16 pixels at a time. */
function candidates(at: usize, width: i32, height: i32, step: i32, scoresAt: usize, foundAt: usize): i32 {
  const w = <usize>width;
  const far = i8x16.splat(<i8>step);
  const places = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  let count = 0;
  for (let y = BORDER; y < height - BORDER; y++) {
    for (let x = BORDER; x < width - BORDER; x += 16) {
      const pixel = y * width + x;
      const here = at + pixel;
      const own = v128.load(here);
      const high = i8x16.add_sat_u(own, far);
      const low = i8x16.sub_sat_u(own, far);
      const n = v128.load(here - 3 * w);
      const s = v128.load(here + 3 * w);
      const e = v128.load(here + 3);
      const west = v128.load(here - 3);
      // Of two opposite neighbours, one is in any arc of nine.
      let bright = v128.and(
        v128.or(i8x16.gt_u(n, high), i8x16.gt_u(s, high)),
        v128.or(i8x16.gt_u(e, high), i8x16.gt_u(west, high)),
      );
      let dark = v128.and(
        v128.or(i8x16.lt_u(n, low), i8x16.lt_u(s, low)),
        v128.or(i8x16.lt_u(e, low), i8x16.lt_u(west, low)),
      );
      if (!v128.any_true(v128.or(bright, dark))) continue;
      const ne = v128.load(here - 2 * w + 2);
      const sw = v128.load(here + 2 * w - 2);
      const se = v128.load(here + 2 * w + 2);
      const nw = v128.load(here - 2 * w - 2);
      bright = v128.and(
        bright,
        v128.and(
          v128.or(i8x16.gt_u(ne, high), i8x16.gt_u(sw, high)),
          v128.or(i8x16.gt_u(se, high), i8x16.gt_u(nw, high)),
        ),
      );
      dark = v128.and(
        dark,
        v128.and(
          v128.or(i8x16.lt_u(ne, low), i8x16.lt_u(sw, low)),
          v128.or(i8x16.lt_u(se, low), i8x16.lt_u(nw, low)),
        ),
      );
      if (!v128.any_true(v128.or(bright, dark))) continue;
      const nne = v128.load(here - 3 * w + 1);
      const ene = v128.load(here - w + 3);
      const ese = v128.load(here + w + 3);
      const sse = v128.load(here + 3 * w + 1);
      const ssw = v128.load(here + 3 * w - 1);
      const wsw = v128.load(here + w - 3);
      const wnw = v128.load(here - w - 3);
      const nnw = v128.load(here - 3 * w - 1);
      const brightest = arc(n, nne, ne, ene, e, ese, se, sse, s, ssw, sw, wsw, west, wnw, nw, nnw, i8x16.splat(0));
      const darkest = arc(n, nne, ne, ene, e, ese, se, sse, s, ssw, sw, wsw, west, wnw, nw, nnw, i8x16.splat(-1));
      let isCorner = v128.or(i8x16.gt_u(brightest, high), i8x16.gt_u(darkest, v128.not(low)));
      const rest = width - BORDER - x;
      if (rest < 16) isCorner = v128.and(isCorner, i8x16.lt_u(places, i8x16.splat(<i8>rest)));
      if (!v128.any_true(isCorner)) continue;
      let first = i16x8.add(sums(n, nne, false), sums(ne, ene, false));
      let second = i16x8.add(sums(n, nne, true), sums(ne, ene, true));
      first = i16x8.add(first, i16x8.add(sums(e, ese, false), sums(se, sse, false)));
      second = i16x8.add(second, i16x8.add(sums(e, ese, true), sums(se, sse, true)));
      first = i16x8.add(first, i16x8.add(sums(s, ssw, false), sums(sw, wsw, false)));
      second = i16x8.add(second, i16x8.add(sums(s, ssw, true), sums(sw, wsw, true)));
      first = i16x8.add(first, i16x8.add(sums(west, wnw, false), sums(nw, nnw, false)));
      second = i16x8.add(second, i16x8.add(sums(west, wnw, true), sums(nw, nnw, true)));
      // How much the circle differs from its middle.
      first = i16x8.abs(i16x8.sub(first, i16x8.shl(i16x8.extend_low_i8x16_u(own), 4)));
      second = i16x8.abs(i16x8.sub(second, i16x8.shl(i16x8.extend_high_i8x16_u(own), 4)));
      const score = scoresAt + (<usize>pixel << 1);
      v128.store(score, v128.and(first, i16x8.extend_low_i8x16_s(isCorner)));
      v128.store(score, v128.and(second, i16x8.extend_high_i8x16_s(isCorner)), 16);
      for (let lanes = i8x16.bitmask(isCorner) & 0xffff; lanes !== 0; lanes &= lanes - 1) {
        store<u32>(foundAt + (<usize>count << 2), pixel + ctz(lanes));
        count++;
      }
    }
  }
  return count;
}

/** The sums of the first, or last, eight bytes of two vectors. */
@inline
function sums(a: v128, b: v128, isHigh: bool): v128 {
  return isHigh
    ? i16x8.add(i16x8.extend_high_i8x16_u(a), i16x8.extend_high_i8x16_u(b))
    : i16x8.add(i16x8.extend_low_i8x16_u(a), i16x8.extend_low_i8x16_u(b));
}

/**
 * The highest number that nine in a row of 16 in a circle all reach: eight from an even place on, and one before or
 * after them.
 *
 * @param flip all bits set: of the inverted numbers
 */
@inline
function arc(
  m0: v128,
  m1: v128,
  m2: v128,
  m3: v128,
  m4: v128,
  m5: v128,
  m6: v128,
  m7: v128,
  m8: v128,
  m9: v128,
  m10: v128,
  m11: v128,
  m12: v128,
  m13: v128,
  m14: v128,
  m15: v128,
  flip: v128,
): v128 {
  const a0 = i8x16.min_u(v128.xor(m0, flip), v128.xor(m1, flip));
  const a2 = i8x16.min_u(v128.xor(m2, flip), v128.xor(m3, flip));
  const a4 = i8x16.min_u(v128.xor(m4, flip), v128.xor(m5, flip));
  const a6 = i8x16.min_u(v128.xor(m6, flip), v128.xor(m7, flip));
  const a8 = i8x16.min_u(v128.xor(m8, flip), v128.xor(m9, flip));
  const a10 = i8x16.min_u(v128.xor(m10, flip), v128.xor(m11, flip));
  const a12 = i8x16.min_u(v128.xor(m12, flip), v128.xor(m13, flip));
  const a14 = i8x16.min_u(v128.xor(m14, flip), v128.xor(m15, flip));
  const b0 = i8x16.min_u(a0, a2);
  const b2 = i8x16.min_u(a2, a4);
  const b4 = i8x16.min_u(a4, a6);
  const b6 = i8x16.min_u(a6, a8);
  const b8 = i8x16.min_u(a8, a10);
  const b10 = i8x16.min_u(a10, a12);
  const b12 = i8x16.min_u(a12, a14);
  const b14 = i8x16.min_u(a14, a0);
  const c0 = i8x16.min_u(i8x16.min_u(b0, b4), i8x16.max_u(v128.xor(m8, flip), v128.xor(m15, flip)));
  const c2 = i8x16.min_u(i8x16.min_u(b2, b6), i8x16.max_u(v128.xor(m10, flip), v128.xor(m1, flip)));
  const c4 = i8x16.min_u(i8x16.min_u(b4, b8), i8x16.max_u(v128.xor(m12, flip), v128.xor(m3, flip)));
  const c6 = i8x16.min_u(i8x16.min_u(b6, b10), i8x16.max_u(v128.xor(m14, flip), v128.xor(m5, flip)));
  const c8 = i8x16.min_u(i8x16.min_u(b8, b12), i8x16.max_u(v128.xor(m0, flip), v128.xor(m7, flip)));
  const c10 = i8x16.min_u(i8x16.min_u(b10, b14), i8x16.max_u(v128.xor(m2, flip), v128.xor(m9, flip)));
  const c12 = i8x16.min_u(i8x16.min_u(b12, b0), i8x16.max_u(v128.xor(m4, flip), v128.xor(m11, flip)));
  const c14 = i8x16.min_u(i8x16.min_u(b14, b2), i8x16.max_u(v128.xor(m6, flip), v128.xor(m13, flip)));
  const first = i8x16.max_u(i8x16.max_u(c0, c2), i8x16.max_u(c4, c6));
  return i8x16.max_u(first, i8x16.max_u(i8x16.max_u(c8, c10), i8x16.max_u(c12, c14)));
}

/** Of the gradients (Sobel) of 7 x 7 pixels. */
function harris(at: usize, width: i32): f64 {
  const w = <usize>width;
  const seven = i16x8(-1, -1, -1, -1, -1, -1, -1, 0);
  let xx = i32x4.splat(0);
  let yy = i32x4.splat(0);
  let xy = i32x4.splat(0);
  // Differences and sums across the last two rows.
  let row = at - 4 * w - 3;
  let across0 = differences(row);
  let along0 = weighted(row);
  row += w;
  let across1 = differences(row);
  let along1 = weighted(row);
  for (let i = 0; i < 7; i++) {
    row += w;
    const across2 = differences(row);
    const along2 = weighted(row);
    const sum = i16x8.add(i16x8.add(across0, across2), i16x8.shl(across1, 1));
    const x = v128.and(sum, seven);
    const y = v128.and(i16x8.sub(along2, along0), seven);
    xx = i32x4.add(xx, i32x4.dot_i16x8_s(x, x));
    yy = i32x4.add(yy, i32x4.dot_i16x8_s(y, y));
    xy = i32x4.add(xy, i32x4.dot_i16x8_s(x, y));
    across0 = across1;
    along0 = along1;
    across1 = across2;
    along1 = along2;
  }
  const squareX = <f64>total(xx);
  const squareY = <f64>total(yy);
  const product = <f64>total(xy);
  const trace = squareX + squareY;
  return squareX * squareY - product * product - 0.04 * (trace * trace);
}

/** Right minus left neighbour of eight pixels. */
@inline
function differences(row: usize): v128 {
  return i16x8.sub(v128.load_ext<u8>(row + 1), v128.load_ext<u8>(row - 1));
}

/** Eight pixels twice, and both of their neighbours. */
@inline
function weighted(row: usize): v128 {
  const sides = i16x8.add(v128.load_ext<u8>(row - 1), v128.load_ext<u8>(row + 1));
  return i16x8.add(sides, i16x8.shl(v128.load_ext<u8>(row), 1));
}

@inline
function total(v: v128): i32 {
  return i32x4.extract_lane(v, 0) + i32x4.extract_lane(v, 1) + i32x4.extract_lane(v, 2) + i32x4.extract_lane(v, 3);
}

/** The first moments of a disc around a pixel. @param outAt gets an i32 for x and one for y */
export function moments(at: usize, width: i32, outAt: usize): void {
  let x = 0;
  let y = 0;
  for (let u = 1; u <= RADIUS; u++) x += u * (<i32>load<u8>(at + u) - <i32>load<u8>(at - u));
  for (let v = 1; v <= RADIUS; v++) {
    const below = at + <usize>(v * width);
    const above = at - <usize>(v * width);
    const reach = <i32>Math.floor(Math.sqrt(<f64>(RADIUS * RADIUS - v * v)));
    let row = 0;
    for (let u = -reach; u <= reach; u++) {
      const low = <i32>load<u8>(below + u);
      const high = <i32>load<u8>(above + u);
      row += low - high;
      x += u * (low + high);
    }
    y += v * row;
  }
  store<i32>(outAt, x);
  store<i32>(outAt, y, 4);
}

/**
 * Compares pairs of pixels around a point (BRIEF, Calonder et al. 2010).
 *
 * @param at the point in a blurred picture
 * @param pairsAt four i8 for each pair: x and y of both pixels, relative to the point
 * @param count the number of pairs, a multiple of 32
 * @param outAt gets a bit for each pair, lowest first, that is set where the first pixel is darker
 */
export function describe(at: usize, width: i32, pairsAt: usize, count: i32, outAt: usize): void {
  for (let word = 0; word < count; word += 32) {
    let bits: u32 = 0;
    for (let bit = 0; bit < 32; bit++) {
      const pair = pairsAt + (<usize>(word + bit) << 2);
      const first = load<u8>(at + <usize>(<i32>load<i8>(pair, 1) * width + <i32>load<i8>(pair)));
      const second = load<u8>(at + <usize>(<i32>load<i8>(pair, 3) * width + <i32>load<i8>(pair, 2)));
      bits |= <u32>(first < second) << bit;
    }
    store<u32>(outAt + <usize>(word >> 3), bits);
  }
}
