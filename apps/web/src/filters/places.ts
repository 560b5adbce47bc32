import type { ViewState } from '../view-state.ts';

export interface Place {
  /** `lat,lon` */
  readonly point: string;
  readonly kilometers: number;
}

export const RADII = [1, 5, 25, 100, 500] as const;

export function placeFilter({ point, kilometers }: Place): string {
  return `{!geofilt sfield=location pt=${point} d=${kilometers}}`;
}

export function readPlace(filter: string): Place | undefined {
  const [, point, kilometers] = /^\{!geofilt sfield=location pt=([-\d.]+,[-\d.]+) d=([\d.]+)\}$/.exec(filter) ?? [];
  return point === undefined ? undefined : { point, kilometers: Number(kilometers) };
}

export function replacePlaceFilter({ filters }: ViewState, place: Place): string[] {
  return [...filters.filter((filter) => readPlace(filter) === undefined), placeFilter(place)];
}
