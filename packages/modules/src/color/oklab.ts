/**
 * The colour space of the color module: OKLab (Björn Ottosson, "A perceptual color space for image processing", 2020)
 * with two changes that make the Euclidean distance closer to human perception:
 * - lightness is transformed by Ottosson's toe (2021), because plain OKLab spreads dark colours too far apart;
 * - a and b are doubled, because plain OKLab weights hue and chroma too little against lightness.
 * A colour is a point (lightness 0…1, 2a about -0.5…0.6, 2b about -0.7…0.4). About 0.02 is just noticeable.
 * The code uses only + - * / and the square root, which IEEE 754 rounds identically everywhere. `Math.pow`, `cbrt` and
 * `exp` may differ in the last bit between builds of the engine, so roots are computed by Newton's and Halley's
 * iterations.
 */

/** The fifth root of a number in (0, 1]. */
function fifthRoot(x: number): number {
  let y = 1;
  for (let i = 0; i < 60; i++) {
    const y2 = y * y;
    y -= (y2 * y2 * y - x) / (5 * y2 * y2);
  }
  return y;
}

/** sRGB value 0…1 to linear light (IEC 61966-2-1). */
function toLinear(c: number): number {
  if (c <= 0.04045) return c / 12.92;
  const x = (c + 0.055) / 1.055;
  const root = fifthRoot(x);
  return x * x * root * root; // x^2.4
}

/** Linear light of each byte value. */
export const LINEAR = Float64Array.from({ length: 256 }, (_, byte) => toLinear(byte / 255));
/** Linear light half way (in sRGB) between each byte and the next: the rounding thresholds. */
const TURNS = Float64Array.from({ length: 255 }, (_, byte) => toLinear((byte + 0.5) / 255));

const SEEDS = 4096;
/** Cube roots at the centres of 4096 steps of 0…1 (and one more for values rounded above 1). */
const CUBE_ROOTS = Float64Array.from({ length: SEEDS + 1 }, (_, i) => {
  const x = (i + 0.5) / SEEDS;
  let y = 1;
  for (let k = 0; k < 60; k++) y -= (y * y * y - x) / (3 * y * y);
  return y;
});

/** Cube root of 0…1: a seed from the table, then two of Halley's iterations. */
function cubeRoot(x: number): number {
  if (x <= 0) return 0;
  let y = CUBE_ROOTS[(x * SEEDS) | 0] as number;
  let y3 = y * y * y;
  y *= (y3 + x + x) / (y3 + y3 + x);
  y3 = y * y * y;
  return y * ((y3 + x + x) / (y3 + y3 + x));
}

const K1 = 0.206;
const K2 = 0.03;
const K3 = (1 + K1) / (1 + K2);

/** Writes the point of an sRGB colour (0…255 each) to `out` at `offset`. */
export function writePoint(out: Float32Array | Float64Array, offset: number, r: number, g: number, b: number): void {
  const red = LINEAR[r] as number;
  const green = LINEAR[g] as number;
  const blue = LINEAR[b] as number;
  const l = cubeRoot(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = cubeRoot(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = cubeRoot(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  const lightness = 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s;
  const t = K3 * lightness - K1;
  out[offset] = 0.5 * (t + Math.sqrt(t * t + 4 * K2 * K3 * lightness));
  out[offset + 1] = 2 * (1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s);
  out[offset + 2] = 2 * (0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s);
}

/** The point of an sRGB colour, 0…255 each. */
export function pointOf(r: number, g: number, b: number): Float64Array {
  const point = new Float64Array(3);
  writePoint(point, 0, r, g, b);
  return point;
}

function toByte(linear: number): number {
  let low = 0;
  let high = 255;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (linear < (TURNS[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The sRGB colour nearest to a point, each channel clamped to 0…255. */
export function rgbOf(lightness: number, a2: number, b2: number): [number, number, number] {
  const oklab = (lightness * lightness + K1 * lightness) / (K3 * (lightness + K2));
  const a = a2 / 2;
  const b = b2 / 2;
  const l = oklab + 0.3963377774 * a + 0.2158037573 * b;
  const m = oklab - 0.1055613458 * a - 0.0638541728 * b;
  const s = oklab - 0.0894841775 * a - 1.291485548 * b;
  const l3 = l * l * l;
  const m3 = m * m * m;
  const s3 = s * s * s;
  return [
    toByte(4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3),
    toByte(-1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3),
    toByte(-0.0041960863 * l3 - 0.7034186147 * m3 + 1.707614701 * s3),
  ];
}

/** `#RRGGBB`, upper case. */
export function hexOf(r: number, g: number, b: number): string {
  return `#${((1 << 24) | (r << 16) | (g << 8) | b).toString(16).slice(1).toUpperCase()}`;
}

/** @param hex `#RRGGBB` */
export function pointOfHex(hex: string): Float64Array {
  const rgb = Number.parseInt(hex.slice(1), 16);
  return pointOf(rgb >> 16, (rgb >> 8) & 255, rgb & 255);
}
