/*
 * The inner loops of the module parts, in AssemblyScript (`npm run kernel` compiles it). Its twin in plain TypeScript is
 * src/parts/plain-kernel.ts: both give the same numbers.
 *
 * All arguments ending in "At" are addresses. Pictures are gray, a byte a pixel, without gaps between rows. 32 bytes
 * after a picture may be read.
 */

/** Patches around points reach this far, and no corner is nearer to the border. */
const BORDER = 19;
/** Radius of the disc whose moments give the orientation of a point. */
const RADIUS = 15;

/**
 * Resizes by bilinear interpolation, for factors near 1.
 *
 * @param rowAt 2 bytes for each pixel of a source row, and one more
 * @param columnsAt 4 bytes for each pixel of a target row
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
  for (let x = 0; x < newWidth; x++) store<u32>(columnsAt + (<usize>x << 2), place(x, across, width));
  for (let y = 0; y < newHeight; y++) {
    const at = place(y, down, height);
    const part = at & 127;
    const first = from + <usize>(<i32>(at >> 7) * width);
    const second = <i32>(at >> 7) + 1 < height ? first + width : first;
    for (let x = 0; x < width; x++) {
      store<u16>(rowAt + (<usize>x << 1), <u16>(<i32>load<u8>(first + x) * (128 - part) + <i32>load<u8>(second + x) * part));
    }
    store<u16>(rowAt + (<usize>width << 1), load<u16>(rowAt + (<usize>(width - 1) << 1)));
    const out = to + <usize>(y * newWidth);
    for (let x = 0; x < newWidth; x++) {
      const column = load<u32>(columnsAt + (<usize>x << 2));
      const share = column & 127;
      const source = rowAt + (<usize>(column >> 7) << 1);
      store<u8>(out + x, <u8>((<u32>load<u16>(source) * (128 - share) + <u32>load<u16>(source, 2) * share) >> 14));
    }
  }
}

/** The source pixel of a target pixel, times 128. */
@inline
function place(target: i32, factor: f64, size: i32): u32 {
  const at = (<f64>target + 0.5) * factor - 0.5;
  return <u32>(Math.max(0, Math.min(<f64>(size - 1), at)) * 128);
}

/** Means of 5 x 5 pixels; the outermost two of each side are left out. @param rowAt 2 bytes for each pixel of a row */
export function blur(from: usize, width: i32, height: i32, to: usize, rowAt: usize): void {
  for (let y = 2; y < height - 2; y++) {
    const row = from + <usize>(y * width);
    for (let x = 0; x < width; x++) {
      const at = row + x;
      store<u16>(
        rowAt + (<usize>x << 1),
        <u16>load<u8>(at - 2 * width) + load<u8>(at - width) + load<u8>(at) + load<u8>(at + width) + load<u8>(at + 2 * width),
      );
    }
    const out = to + <usize>(y * width);
    for (let x = 2; x < width - 2; x++) {
      const at = rowAt + (<usize>(x - 2) << 1);
      const sum =
        <u32>load<u16>(at) + load<u16>(at, 2) + load<u16>(at, 4) + load<u16>(at, 6) + load<u16>(at, 8);
      // Divided by 25.
      store<u8>(out + x, <u8>((sum * 2622) >> 16));
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

function candidates(at: usize, width: i32, height: i32, step: i32, scoresAt: usize, foundAt: usize): i32 {
  const w = <usize>width;
  const far = i8x16.splat(<i8>step);
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
      let lanes = i8x16.bitmask(v128.or(bright, dark)) & 0xffff;
      const rest = width - BORDER - x;
      if (rest < 16) lanes &= (1 << rest) - 1;
      for (; lanes !== 0; lanes &= lanes - 1) {
        const score = scoreOf(here + ctz(lanes), w, step);
        if (score < 0) continue;
        store<u16>(scoresAt + (<usize>(pixel + ctz(lanes)) << 1), <u16>score);
        store<u32>(foundAt + (<usize>count << 2), pixel + ctz(lanes));
        count++;
      }
    }
  }
  return count;
}

/** State of {@link scoreOf}: the sum over the circle so far, and a bit for each brighter and each darker neighbour. */
let sum: i32 = 0;
let bright: i32 = 0;
let dark: i32 = 0;

@inline
function look(at: usize, own: i32, step: i32, bit: i32): void {
  const value = <i32>load<u8>(at);
  sum += value;
  bright |= <i32>(value > own + step) << bit;
  dark |= <i32>(value < own - step) << bit;
}

/** How much the circle differs from its middle; -1 if that is no corner. */
function scoreOf(at: usize, w: usize, step: i32): i32 {
  const own = <i32>load<u8>(at);
  sum = -16 * own;
  bright = 0;
  dark = 0;
  look(at - 3 * w, own, step, 0);
  look(at - 3 * w + 1, own, step, 1);
  look(at - 2 * w + 2, own, step, 2);
  look(at - w + 3, own, step, 3);
  look(at + 3, own, step, 4);
  look(at + w + 3, own, step, 5);
  look(at + 2 * w + 2, own, step, 6);
  look(at + 3 * w + 1, own, step, 7);
  look(at + 3 * w, own, step, 8);
  look(at + 3 * w - 1, own, step, 9);
  look(at + 2 * w - 2, own, step, 10);
  look(at + w - 3, own, step, 11);
  look(at - 3, own, step, 12);
  look(at - w - 3, own, step, 13);
  look(at - 2 * w - 2, own, step, 14);
  look(at - 3 * w - 1, own, step, 15);
  return hasArc(bright) || hasArc(dark) ? abs(sum) : -1;
}

/** Whether nine bits of 16 in a circle are set in a row. */
@inline
function hasArc(bits: i32): bool {
  let runs = <u32>(bits | (bits << 16));
  runs &= runs >>> 1;
  runs &= runs >>> 2;
  runs &= runs >>> 4;
  return (runs & (runs >>> 1)) !== 0;
}

/** Of the gradients (Sobel) of 7 x 7 pixels. */
function harris(at: usize, width: i32): f64 {
  const w = <usize>width;
  let xx: i32 = 0;
  let yy: i32 = 0;
  let xy: i32 = 0;
  for (let row = at - 3 * w - 3, end = at + 3 * w - 3; row <= end; row += w) {
    for (let pixel = row; pixel < row + 7; pixel++) {
      const nw = <i32>load<u8>(pixel - w - 1);
      const ne = <i32>load<u8>(pixel - w + 1);
      const sw = <i32>load<u8>(pixel + w - 1);
      const se = <i32>load<u8>(pixel + w + 1);
      const x = (<i32>load<u8>(pixel + 1) - <i32>load<u8>(pixel - 1)) * 2 + ne - nw + se - sw;
      const y = (<i32>load<u8>(pixel + w) - <i32>load<u8>(pixel - w)) * 2 + sw - nw + se - ne;
      xx += x * x;
      yy += y * y;
      xy += x * y;
    }
  }
  const trace = <f64>xx + <f64>yy;
  return <f64>xx * <f64>yy - <f64>xy * <f64>xy - 0.04 * (trace * trace);
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
