import { type Distance, EARTH_RADIUS_KILOMETERS, type Location, quote } from '@akin/domain';
import type { FoundColumn } from './columns.ts';
import type { Params } from './params.ts';

/** Degrees. `west` is greater than `east` in a box across the date line. */
export interface Box {
  readonly south: number;
  readonly north: number;
  readonly west: number;
  readonly east: number;
}

/** Two columns of a field: what `FoundColumn` says about a location. */
type LocationColumn = Extract<FoundColumn['column'], { kind: 'location' }>;

/** Widens the box in front of a circle, so that rounding excludes no point of the circle. Degrees; 1 cm. */
const MARGIN = 1e-7;

/** Half the circumference of the earth, in kilometers. */
export const FARTHEST = Math.PI * EARTH_RADIUS_KILOMETERS;

/** @throws the error of `fail` if the field is not a location */
export function locationColumn(found: FoundColumn, fail: (problem: string) => Error): LocationColumn {
  if (found.column.kind === 'location') return found.column;
  throw fail(`distances need a location, and ${quote(found.name)} is a ${found.type}`);
}

/**
 * SQL of the distance of a document in kilometers: the haversine formula on a sphere (Sinnott 1984). Null if the
 * document has no location, which `least` would not see.
 */
export function distanceSql({ lat, lon }: LocationColumn, from: Location, params: Params): string {
  const [fromLat, fromLon] = [params.add(from.lat, 'float8'), params.add(from.lon, 'float8')];
  return (
    `(case when d.${lat} is not null then ${2 * EARTH_RADIUS_KILOMETERS} * asin(least(1, sqrt(power(sin(radians(d.${lat} - ${fromLat}) / 2), 2) + ` +
    `cos(radians(${fromLat})) * cos(radians(d.${lat})) * power(sin(radians(d.${lon} - ${fromLon}) / 2), 2)))) end)`
  );
}

/**
 * The smallest box of meridians and parallels around a circle. One with a pole has all longitudes: it is the cap from
 * the circle's farthest parallel to the pole.
 */
export function boxAround({ lat, lon }: Location, kilometers: number): Box {
  const angle = kilometers / EARTH_RADIUS_KILOMETERS;
  const reach = degrees(angle);
  const [south, north] = [lat - reach, lat + reach];
  if (south <= -90 || north >= 90) {
    return { south: Math.max(-90, south), north: Math.min(90, north), west: -180, east: 180 };
  }
  // The meridians that touch the circle do so away from its own parallel.
  const side = degrees(Math.asin(Math.min(1, Math.sin(angle) / Math.cos((lat * Math.PI) / 180))));
  return { south, north, west: wrap(lon - side), east: wrap(lon + side) };
}

/** SQL that is true for documents inside a box; the edges belong to it by default. */
export function boxSql(
  { lat, lon }: LocationColumn,
  { south, north, west, east }: Box,
  params: Params,
  [above, below]: readonly [string, string] = ['>=', '<='],
): string {
  const corners = [south, west, north, east].map((degree) => params.add(degree, 'float8'));
  const acrossDateLine = west > east ? 'or' : 'and';
  return (
    `(d.${lat} ${above} ${corners[0]} and d.${lat} ${below} ${corners[2]} ` +
    `and (d.${lon} ${above} ${corners[1]} ${acrossDateLine} d.${lon} ${below} ${corners[3]}))`
  );
}

/**
 * SQL that is true for documents between two distances. A cheap comparison of degrees excludes most documents first.
 */
export function distanceRangeSql(
  column: LocationColumn,
  { from }: Distance,
  range: { low: number | null; high: number | null; includeLow: boolean; includeHigh: boolean },
  params: Params,
): string {
  const { low, high, includeLow, includeHigh } = range;
  const conditions: string[] = [];
  if (high !== null && high < FARTHEST) {
    if (high < 0) return 'false';
    const { south, north, west, east } = boxAround(from, high);
    const wide = west === -180 && east === 180;
    const [westward, eastward] = wide ? [west, east] : [wrap(west - MARGIN), wrap(east + MARGIN)];
    conditions.push(
      boxSql(column, { south: south - MARGIN, north: north + MARGIN, west: westward, east: eastward }, params),
    );
  }
  if (low === null && high === null) return `d.${column.lat} is not null`;
  const distance = distanceSql(column, from, params);
  if (low !== null) conditions.push(`${distance} ${includeLow ? '>=' : '>'} ${params.add(low, 'float8')}`);
  if (high !== null) conditions.push(`${distance} ${includeHigh ? '<=' : '<'} ${params.add(high, 'float8')}`);
  return `(${conditions.join(' and ')})`;
}

function degrees(radians: number): number {
  return (radians * 180) / Math.PI;
}

function wrap(lon: number): number {
  return lon < -180 ? lon + 360 : lon > 180 ? lon - 360 : lon;
}
