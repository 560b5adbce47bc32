import type { Location } from './schema.ts';

const DEGREES = '([+-]?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)';
const LOCATION = new RegExp(`^ *${DEGREES} *, *${DEGREES} *$`);

/** Parses `lat,lon` in degrees. Returns null if the text has another form or is out of range. */
export function parseLocation(text: string): Location | null {
  const found = text.length > 200 ? null : LOCATION.exec(text);
  if (found === null) return null;
  // Adding 0 turns -0 into 0, so that equal places have equal texts.
  const lat = Number(found[1]) + 0;
  const lon = Number(found[2]) + 0;
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? { lat, lon } : null;
}

/** Formats `lat,lon` with all digits, so that `parseLocation` returns the same numbers. */
export function formatLocation(location: Location): string {
  return `${location.lat},${location.lon}`;
}
