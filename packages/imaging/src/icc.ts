/** Red, green and blue of sRGB (IEC 61966-2-1) as a profile states them: in XYZ, adapted to D50. */
const PRIMARIES: Readonly<Record<string, readonly number[]>> = {
  rXYZ: [0.436, 0.2225, 0.0139],
  gXYZ: [0.3851, 0.7169, 0.0971],
  bXYZ: [0.1431, 0.0606, 0.7141],
};
const CURVES = ['rTRC', 'gTRC', 'bTRC'];
/** Where curves are compared, and how far they may be apart: half a level of 8 bits at most. */
const POINTS = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1];
const MAX_CURVE_ERROR = 0.002;
const MAX_PRIMARY_ERROR = 0.002;
const MAX_TAGS = 100;

/**
 * Whether a colour profile means sRGB, by its colours and curves; its name says nothing. The conversion of such a
 * picture would change nothing, and costs 3 ms. False for profiles that are damaged, or made of tables. Format: ICC.1.
 */
export function isSrgbProfile(icc: Uint8Array): boolean {
  const bytes = Buffer.from(icc.buffer, icc.byteOffset, icc.byteLength);
  try {
    if (bytes.toString('latin1', 16, 24) !== 'RGB XYZ ') return false;
    const tags = readTags(bytes);
    if (tags.has('A2B0')) return false;
    const hasPrimaries = Object.entries(PRIMARIES).every(([name, values]) => {
      const at = tags.get(name);
      return (
        at !== undefined && values.every((value, i) => near(fixed(bytes, at + 8 + i * 4), value, MAX_PRIMARY_ERROR))
      );
    });
    return (
      hasPrimaries &&
      CURVES.every((name) => {
        const curve = readCurve(bytes, tags.get(name));
        return curve !== undefined && POINTS.every((x) => near(curve(x), toLinear(x), MAX_CURVE_ERROR));
      })
    );
  } catch {
    // A tag goes past the end.
    return false;
  }
}

/** The transfer function of sRGB. */
function toLinear(x: number): number {
  return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
}

function readTags(bytes: Buffer): Map<string, number> {
  const tags = new Map<string, number>();
  const count = Math.min(bytes.readUInt32BE(128), MAX_TAGS);
  for (let at = 132; at < 132 + count * 12; at += 12) {
    tags.set(bytes.toString('latin1', at, at + 4), bytes.readUInt32BE(at + 4));
  }
  return tags;
}

/** The curve of a tag: a table, a power, or the parametric curve that sRGB has; undefined for others. */
function readCurve(bytes: Buffer, at: number | undefined): ((x: number) => number) | undefined {
  if (at === undefined) return undefined;
  const type = bytes.toString('latin1', at, at + 4);
  if (type === 'para' && bytes.readUInt16BE(at + 8) === 3) {
    const [g, a, b, c, d] = [0, 1, 2, 3, 4].map((i) => fixed(bytes, at + 12 + i * 4)) as [
      number,
      number,
      number,
      number,
      number,
    ];
    return (x) => (x >= d ? (a * x + b) ** g : c * x);
  }
  if (type !== 'curv') return undefined;
  const count = bytes.readUInt32BE(at + 8);
  if (count === 0) return (x) => x;
  const value = (i: number) => bytes.readUInt16BE(at + 12 + i * 2);
  if (count === 1) return (x) => x ** (value(0) / 256);
  return (x) => {
    const place = x * (count - 1);
    const below = Math.min(Math.floor(place), count - 2);
    return (value(below) + (value(below + 1) - value(below)) * (place - below)) / 65_535;
  };
}

/** A number with 16 bits before and after the point. */
function fixed(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) / 65_536;
}

function near(a: number, b: number, error: number): boolean {
  return Math.abs(a - b) <= error;
}
