import { listCollections, otherModels, type Store } from '@akin/store';

/** A line for each module of a collection whose descriptors are of other models: what that means, and what to do. */
export async function describeOtherModels(store: Store): Promise<string[]> {
  const lines: string[] = [];
  for (const collection of await listCollections(store)) {
    for (const { module, model, own } of await otherModels(store, collection)) {
      lines.push(
        `The collection ${collection.name} holds ${module} of the model ${model}, and this akin uses ${own}: it takes no pictures and ranks by none until it is reindexed with: akin reindex --collection ${collection.name}`,
      );
    }
  }
  return lines;
}
