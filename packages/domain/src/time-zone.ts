const OFFSET = /^GMT([+-])(\d{1,2})(?::?([0-5]\d))?$/;

/**
 * The offset from UTC of a zone such as `GMT+1` or `GMT-03:30`, without daylight saving time; undefined for other
 * zones. The spellings are those of Java, which Solr accepts: hours up to 23, with one digit or two.
 * @returns milliseconds
 */
export function fixedOffset(zone: string): number | undefined {
  const [, sign, hours, minutes = '0'] = OFFSET.exec(zone) ?? [];
  if (hours === undefined || Number(hours) > 23) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === '-' ? -offset : offset;
}

/** Whether date math supports a time zone: a name, such as Europe/Berlin, or an offset from GMT. */
export function isTimeZone(zone: string): boolean {
  if (fixedOffset(zone) !== undefined) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
