import type { PartMatch } from '@akin/searcher';

/** x, y, width and height, in fractions of a picture. */
export type Box = readonly [x: number, y: number, width: number, height: number];

/** Where two pictures have a part in common. */
export interface PartBox {
  readonly query: Box;
  readonly document: Box;
  /** Degrees by which the document is turned in the query, from 0 to 360, after it was mirrored. */
  readonly turn: number;
  /** How large the document is in the query. 1: its long side is that of the query. */
  readonly scale: number;
  readonly isMirrored: boolean;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * The box of a match.
 *
 * @param isMirrored whether the transform maps to the mirror image of the query
 * @param query its points as the module writes them, or their first 6 bytes; the same applies to `document`
 */
export function partBox(
  { transform: { a, b, x, y } }: PartMatch,
  isMirrored: boolean,
  query: Uint8Array,
  document: Uint8Array,
): PartBox {
  const [whole, part] = [sizeOf(query), sizeOf(document)];
  const square = a * a + b * b;
  const toQuery = (u: number, v: number): Place => [a * u - b * v + x, b * u + a * v + y];
  const toDocument = (u: number, v: number): Place => [
    (a * (u - x) + b * (v - y)) / square,
    (a * (v - y) - b * (u - x)) / square,
  ];
  const [left, top, width, height] = bounds(part, toQuery, whole);
  const turn = (Math.atan2(b, a) * 180) / Math.PI;
  return {
    query: isMirrored ? [1 - left - width, top, width, height] : [left, top, width, height],
    document: bounds(whole, toDocument, part),
    turn: ((isMirrored ? -turn : turn) + 360) % 360,
    scale: Math.sqrt(square),
    isMirrored,
  };
}

/** The same for the query and the document exchanged. */
export function exchanged({ query, document, turn, scale, isMirrored }: PartBox): PartBox {
  return {
    query: document,
    document: query,
    scale: 1 / scale,
    isMirrored,
    turn: isMirrored ? turn : (360 - turn) % 360,
  };
}

/** The share of a picture inside a box. */
export const areaOf = ([, , width, height]: Box) => width * height;

/** In units of the long side. */
function sizeOf(points: Uint8Array): Size {
  const view = new DataView(points.buffer, points.byteOffset, points.byteLength);
  // Imported outputs may contain 0.
  const [width, height] = [Math.max(1, view.getUint16(2, true)), Math.max(1, view.getUint16(4, true))];
  const long = Math.max(width, height);
  return { width: width / long, height: height / long };
}

type Place = readonly [x: number, y: number];

/** The part of a picture that another one covers. */
function bounds({ width, height }: Size, map: (x: number, y: number) => Place, within: Size): Box {
  const corners = [map(0, 0), map(width, 0), map(0, height), map(width, height)];
  const span = (axis: 0 | 1, size: number): Place => {
    const values = corners.map((corner) => Math.max(0, Math.min(1, corner[axis] / size)));
    return [Math.min(...values), Math.max(...values)];
  };
  const [left, right] = span(0, within.width);
  const [top, bottom] = span(1, within.height);
  return [left, top, right - left, bottom - top];
}
