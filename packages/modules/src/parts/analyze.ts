import type { Picture } from '../picture/picture.ts';
import { MAX_LONG_SIDE, PointDetector } from './detector.ts';
import type { Point, Points } from './points.ts';

/** Of a stored picture. */
export const STORED = { longSide: 400, levels: 8, max: 180 };
/** Of a picture that is searched for: it may be a small part of another one, or show it small. */
export const SOUGHT = {
  longSide: MAX_LONG_SIDE,
  levels: 12,
  max: 500,
  coarse: { max: 300, from: 4 },
  /** Otherwise the text of a page would take the points of a picture on it. */
  pool: 8,
};

let detector: PointDetector | undefined;

/** The points of a picture that are stored. */
export async function pointsOf(picture: Picture): Promise<Points> {
  detector ??= new PointDetector();
  const detected = detector.detect(await pixelsFor(picture, STORED.longSide), STORED.longSide, STORED.levels);
  return sized(detected, detector.points(detected, STORED.max));
}

/** Four times as many points of a picture, with which it is searched for. */
export async function soughtPointsOf(picture: Picture): Promise<Points> {
  detector ??= new PointDetector();
  const detected = detector.detect(await pixelsFor(picture, SOUGHT.longSide), SOUGHT.longSide, SOUGHT.levels);
  const points = detector.points(detected, SOUGHT.max, 0, SOUGHT.pool);
  const known = new Set(points.map(keyOf));
  const coarse = detector.points(detected, SOUGHT.coarse.max, SOUGHT.coarse.from, SOUGHT.pool);
  return sized(detected, [...points, ...coarse.filter((point) => !known.has(keyOf(point)))]);
}

const keyOf = ({ x, y, level }: Point) => `${level} ${x} ${y}`;

function sized(
  { levels }: { readonly levels: readonly { readonly width: number; readonly height: number }[] },
  points: readonly Point[],
): Points {
  const { width = 1, height = 1 } = levels[0] ?? {};
  return { width, height, points };
}

function pixelsFor({ pixels, pixelsOf }: Picture, longSide: number) {
  const [short, long] = [Math.min(pixels.width, pixels.height), Math.max(pixels.width, pixels.height)];
  return pixelsOf(Math.ceil((longSide * short) / long));
}
