import type { Collection, Operation } from '@akin/store';

export function presentOperation(collection: Collection, operation: Operation): Record<string, unknown> {
  const { seq, kind, id, state, attempt, position, acceptedAt, error } = operation;
  return {
    operation: `${collection.name}-${seq}`,
    kind,
    id: id ?? undefined,
    state,
    position,
    attempt,
    acceptedAt,
    reason: error,
  };
}
