import { Double, type FieldValue, formatLocation } from '@akin/domain';
import type { FieldList } from './field-list.ts';

/** A stored value as in a response: Doubles keep their point, dates are instants in UTC, a location is `lat,lon`. */
export function presentValue(value: FieldValue): unknown {
  if (typeof value === 'number') return new Double(value);
  if (typeof value !== 'object' || value instanceof Date) return value;
  if ('lat' in value) return formatLocation(value);
  return value.map((element) => (typeof element === 'number' ? new Double(element) : element));
}

export interface PresentedHit {
  readonly document: ReadonlyMap<string, FieldValue>;
  readonly score: number | undefined;
  /** Kilometers, in the order of the distances in `computed`. Null if the document has no location. */
  readonly distances: readonly (number | null)[];
  /** Number of other documents that it represents, if duplicates are collapsed. */
  readonly collapsed?: number | undefined;
}

/**
 * The members of a document in the order of the schema, then the computed ones, then the score.
 *
 * @param hidden fields that were read only to be shown under other names
 */
export function presentDocument(
  { document, score, distances, collapsed }: PresentedHit,
  list: FieldList,
  hidden: ReadonlySet<string>,
): Map<string, unknown> {
  const members = new Map<string, unknown>();
  for (const [name, value] of document) if (!hidden.has(name)) members.set(name, presentValue(value));
  let next = 0;
  for (const computed of list.computed) {
    const value =
      computed.kind === 'distance'
        ? (distances[next++] ?? undefined)
        : computed.kind === 'score'
          ? score
          : document.get(computed.name);
    if (value !== undefined) members.set(computed.alias, presentValue(value));
  }
  if (collapsed !== undefined) members.set('collapsed', collapsed);
  if (list.score && score !== undefined) members.set('score', new Double(score));
  return members;
}
