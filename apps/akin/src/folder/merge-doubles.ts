import type { Collection } from '@akin/client';
import type { Batch } from './batch.ts';
import type { KnownPicture } from './known-files.ts';

/**
 * Makes one document of two that have the same real file: the one that stays gets the labels of the other, and its
 * fields that it lacks.
 */
export async function mergeDoubles(
  collection: Collection,
  batch: Batch,
  doubles: readonly { readonly double: KnownPicture; readonly of: KnownPicture }[],
): Promise<void> {
  for (const { double, of } of doubles) {
    const [kept, other] = await Promise.all([collection.getByIds([of.id]), collection.getByIds([double.id])]);
    if (!kept[0] || !other[0]) continue;
    const { id, labels, ...fields } = other[0];
    const lacking = Object.entries(fields).filter(([name]) => kept[0]?.[name] === undefined && name !== 'missing');
    await batch.add({
      id: of.id,
      _version_: 1,
      labels: { 'add-distinct': Array.isArray(labels) ? labels : [] },
      ...Object.fromEntries(lacking),
    });
    await batch.flush();
    await collection.deleteByIds([id], { tombstones: false });
  }
}
