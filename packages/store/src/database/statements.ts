import { inSpan } from '@akin/runtime';
import type { Collection } from './context.ts';

/**
 * Runs statements that belong together as one span.
 *
 * @param summary the operation and its object, such as `SELECT page`: it names the span, which contains neither text
 * nor values
 */
export function statements<Value>(summary: string, collection: Collection, run: () => Promise<Value>): Promise<Value> {
  const attributes = {
    'db.system.name': 'postgresql',
    'db.query.summary': summary,
    'db.operation.name': summary.split(' ')[0],
    'akin.collection': collection.name,
  };
  return inSpan(summary, { kind: 'client', attributes }, run);
}
