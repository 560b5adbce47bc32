import { Double, type FieldValue, formatLocation } from '@akin/domain';

/** A stored value as an answer holds it: Doubles keep their point, dates are instants in UTC, a place is `lat,lon`. */
export function presentValue(value: FieldValue): unknown {
  if (typeof value === 'number') return new Double(value);
  if (typeof value !== 'object' || value instanceof Date) return value;
  if ('lat' in value) return formatLocation(value);
  return value.map((element) => (typeof element === 'number' ? new Double(element) : element));
}

/** The members of a document in the order of the schema, and its score behind them. */
export function presentDocument(
  document: ReadonlyMap<string, FieldValue>,
  score: number | undefined,
): Map<string, unknown> {
  const members = new Map<string, unknown>([...document].map(([name, value]) => [name, presentValue(value)]));
  if (score !== undefined) members.set('score', new Double(score));
  return members;
}
