import type { Operation } from '@akin/store/changes';
import type { Collection } from '@akin/store/database';

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
