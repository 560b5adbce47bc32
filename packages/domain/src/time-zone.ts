const OFFSET = /^GMT([+-])(\d{1,2})(?::?([0-5]\d))?$/;

/**
 * How far a zone such as `GMT+1` or `GMT-03:30`, which has no name and no summer, is ahead of UTC; undefined for
 * others. The spellings are those of Java, which Solr reads: hours up to 23, in one digit or two.
 * @returns milliseconds
 */
export function fixedOffset(zone: string): number | undefined {
  const [, sign, hours, minutes = '0'] = OFFSET.exec(zone) ?? [];
  if (hours === undefined || Number(hours) > 23) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === '-' ? -offset : offset;
}

/** Whether date math can count in a zone: it has a name, such as Europe/Berlin, or is so far from GMT. */
export function isTimeZone(zone: string): boolean {
  if (fixedOffset(zone) !== undefined) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
