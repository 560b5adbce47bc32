import { type Places, type PointSet, TURNS } from './point-format.ts';

/** A point of a query, and a similar point of a row. */
export interface Hit {
  readonly point: number;
  /** Where the other one is: see `roughPlaceOf`. */
  readonly place: number;
}

/** More hits of one row are not compared with each other. */
const MAX_COMPARED = 60;
/** Points agree if they are this near to where another hit expects them, in long sides of the query. */
const TOLERANCE = 0.08;
const SCALE_TOLERANCE = 1.5;

/**
 * How many hits agree in turn, scale and place with one of them.
 *
 * @param read writes the place of a hit as that of a point
 */
export function agreement(
  query: PointSet,
  hits: readonly Hit[],
  read: (hit: Hit, into: Places, i: number) => void,
): number {
  const count = Math.min(hits.length, MAX_COMPARED);
  const places = {
    x: new Float32Array(count),
    y: new Float32Array(count),
    turn: new Float32Array(count),
    scale: new Float32Array(count),
  };
  const [x, y] = [new Float32Array(count), new Float32Array(count)];
  const scales = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const hit = hits[i] as Hit;
    read(hit, places, i);
    x[i] = query.x[hit.point] as number;
    y[i] = query.y[hit.point] as number;
    scales[i] = (query.scale[hit.point] as number) / (places.scale[i] as number);
  }
  // A point of the row counts once.
  const numbers = new Map<number, number>();
  const numberOf = hits.slice(0, count).map(({ place }) => {
    const number = numbers.get(place) ?? numbers.size;
    numbers.set(place, number);
    return number;
  });
  const seen = new Int32Array(numbers.size).fill(-1);
  let most = 0;
  for (let i = 0; i < count; i++) {
    const scale = scales[i] as number;
    const turned = (query.turn[(hits[i] as Hit).point] as number) - (places.turn[i] as number);
    const angle = (turned * 2 * Math.PI) / TURNS;
    const [c, s] = [Math.cos(angle) * scale, Math.sin(angle) * scale];
    let agreed = 0;
    for (let j = 0; j < count; j++) {
      const ratio = (scales[j] as number) / scale;
      if (ratio > SCALE_TOLERANCE || ratio * SCALE_TOLERANCE < 1) continue;
      const right = (places.x[j] as number) - (places.x[i] as number);
      const down = (places.y[j] as number) - (places.y[i] as number);
      if (Math.abs((x[i] as number) + c * right - s * down - (x[j] as number)) > TOLERANCE) continue;
      if (Math.abs((y[i] as number) + s * right + c * down - (y[j] as number)) > TOLERANCE) continue;
      const number = numberOf[j] as number;
      if (seen[number] === i) continue;
      seen[number] = i;
      agreed++;
    }
    most = Math.max(most, agreed);
  }
  return most;
}
