import type { Location } from '@akin/domain';
import type { WallTime } from './dates.ts';

/** What one block of metadata says about a picture. */
export interface FoundFacts {
  readonly original?: WallTime | undefined;
  readonly digitized?: WallTime | undefined;
  readonly modified?: WallTime | undefined;
  /** The moment when it was taken, in milliseconds since 1970: from satellites, or from an online album. */
  readonly instant?: number | undefined;
  readonly camera?: string | undefined;
  readonly location?: Location | undefined;
  readonly title?: string | undefined;
  readonly caption?: string | undefined;
  readonly keywords?: readonly string[] | undefined;
  readonly rating?: number | undefined;
}

/** A position rounded to 7 digits, about a centimetre; undefined if it is none. */
export function toLocation(lat: number | undefined, lon: number | undefined): Location | undefined {
  if (lat === undefined || lon === undefined || !(Math.abs(lat) <= 90) || !(Math.abs(lon) <= 180)) return undefined;
  // Devices without a GPS fix write zeros. That point is in the Atlantic, so hardly any picture is from there.
  if (lat === 0 && lon === 0) return undefined;
  const round = (degrees: number) => Math.round(degrees * 1e7) / 1e7;
  return { lat: round(lat), lon: round(lon) };
}

/** The name of a camera; the maker is not repeated if the model starts with it. */
export function cameraName(make: string | undefined, model: string | undefined): string | undefined {
  if (make === undefined || model === undefined) return model ?? make;
  const maker = make.split(' ')[0]?.toLowerCase() ?? '';
  return model.toLowerCase().startsWith(maker) ? model : `${make} ${model}`;
}

/** 0 to 5 stars; undefined for anything else. Programs write -1 for a rejected picture. */
export function toRating(value: number): number | undefined {
  return Number.isInteger(value) && value >= 0 && value <= 5 ? value : undefined;
}
