import type { Collection, FoundDocument } from '@akin/client';
import type { Batch } from './batch.ts';
import type { KnownPicture } from './known-files.ts';

const CHUNK = 100;

type Double = { readonly double: KnownPicture; readonly of: KnownPicture };

/**
 * Makes one document of those that have the same real file: the one that stays gets the labels of the others, their
 * fields that it lacks, and the decisions that they are different from other pictures. After a stop, the next run
 * continues.
 */
export async function mergeDoubles(collection: Collection, batch: Batch, doubles: readonly Double[]): Promise<void> {
  if (doubles.length === 0) return;
  await moveDecisions(collection, doubles);
  for (let start = 0; start < doubles.length; start += CHUNK) {
    const chunk = doubles.slice(start, start + CHUNK);
    const ids = [...new Set(chunk.flatMap(({ double, of }) => [double.id, of.id]))];
    const found = new Map((await collection.getByIds(ids)).map((document) => [document.id, document]));
    const updates = new Map<string, { labels: Set<string>; fields: Record<string, FoundDocument[string]> }>();
    const merged: { id: string; of: string }[] = [];
    for (const { double, of } of chunk) {
      const [kept, other] = [found.get(of.id), found.get(double.id)];
      if (kept === undefined || other === undefined) continue;
      const { id, labels, missing: _, ...fields } = other;
      const update = updates.get(of.id) ?? { labels: new Set(), fields: {} };
      updates.set(of.id, update);
      for (const label of Array.isArray(labels) ? labels : []) update.labels.add(String(label));
      for (const [name, value] of Object.entries(fields)) {
        if (kept[name] === undefined) update.fields[name] ??= value;
      }
      merged.push({ id, of: of.id });
    }
    for (const [id, { labels, fields }] of updates) {
      await batch.add({ id, _version_: 1, labels: { 'add-distinct': [...labels] }, ...fields });
    }
    await batch.flush();
    // What could not be taken over stays where it is.
    const taken = merged.filter(({ of }) => !batch.refused.has(of));
    await collection.deleteByIds(
      taken.map(({ id }) => id),
      { tombstones: false },
    );
  }
}

async function moveDecisions(collection: Collection, doubles: readonly Double[]): Promise<void> {
  const keptOf = new Map(doubles.map(({ double, of }) => [double.id, of.id]));
  const moved = new Map<string, [string, string]>();
  for await (const ids of collection.allGroupDecisions()) {
    const [one, other] = ids.map((id) => keptOf.get(id) ?? id) as [string, string];
    if (one !== other && (one !== ids[0] || other !== ids[1])) moved.set(JSON.stringify([one, other]), [one, other]);
  }
  for (const pair of moved.values()) await collection.decideGroups(pair, 'different');
}
