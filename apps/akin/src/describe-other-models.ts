import type { Store } from '@akin/store/changes';
import { listCollections, otherModels } from '@akin/store/database';

/** A line for each module of a collection whose descriptors are from other models: what that means, and what to do. */
export async function describeOtherModels(store: Store): Promise<string[]> {
  const lines: string[] = [];
  for (const collection of await listCollections(store)) {
    for (const { module, model, own } of await otherModels(store, collection)) {
      lines.push(
        `The collection ${collection.name} contains ${module} descriptors of the model ${model}, but akin uses ${own}. It accepts and ranks no pictures until you run: akin reindex --collection ${collection.name}`,
      );
    }
  }
  return lines;
}
