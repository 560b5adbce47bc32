import { parseDate } from '@akin/domain';
import type { PictureFacts } from './picture-facts.ts';

/** Fields of a document that come from its picture file. */
export interface FileFields {
  readonly taken?: string;
  /** The moment of `taken` in UTC, if the zone of the clock is known. */
  readonly taken_utc?: string;
  readonly camera?: string;
  readonly location?: string;
  readonly title?: string;
  readonly caption?: string;
  /** Separated by `; `, which no keyword contains. The document has each of them as a label, too. */
  readonly keywords?: string;
  readonly rating?: number;
}

/**
 * Facts of a picture as fields of a document. A text that is a date, such as the only keyword, is left out: it says
 * nothing more, and its field would get the type of dates.
 */
export function toFields({ taken, instant, location, keywords, ...facts }: PictureFacts): FileFields {
  const texts = { ...facts, ...(keywords && { keywords: keywords.join('; ') }) };
  const same = Object.fromEntries(
    Object.entries(texts).filter(([, value]) => typeof value !== 'string' || parseDate(value) === null),
  );
  return {
    ...(taken && { taken: taken.toISOString() }),
    ...(instant && { taken_utc: instant.toISOString() }),
    ...(location && { location: `${location.lat},${location.lon}` }),
    ...same,
  };
}
