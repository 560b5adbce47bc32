import type { FoundDocument } from '@akin/client';
import { findCommonParts, isOpened } from '../common-parts/common-parts.ts';
import { isAnalyzed } from '../elements.ts';
import { filterOf } from '../facets.ts';
import type { Model } from '../model.ts';
import { predictTags } from '../tags.ts';
import { TEXTS } from '../texts.ts';

export async function openFromUrl(model: Model): Promise<void> {
  const { opened: id } = model.state;
  if (id === null) return model.update({ opened: null });
  const known = listed(model).find((document) => document.id === id);
  if (known) return showDetails(model, known);
  const { docs } = (await model.collection.select({ fq: filterOf('id', id), rows: 1 })).response;
  const [document] = docs;
  if (model.state.opened !== id) return;
  if (document) showDetails(model, document);
  else model.update({ opened: null, error: TEXTS.details.gone(id) });
}

export function showDetails(model: Model, document: FoundDocument): void {
  model.update({ opened: document, openedTags: null, openedParts: [] });
  if (isAnalyzed(document)) void findCommonParts(model, document);
  // Only a picture with a content descriptor has neighbours.
  if ('content_rerank' in document) void tagOpened(model, document);
}

/** @param more loads further results */
export async function neighbour(
  model: Model,
  by: 1 | -1,
  more: () => Promise<void>,
): Promise<FoundDocument | undefined> {
  const { opened } = model.pageData;
  const find = () => {
    const documents = listed(model);
    const at = documents.findIndex(({ id }) => id === opened?.id);
    return at < 0 ? undefined : documents[at + by];
  };
  const found = find();
  if (found || by < 0) return found;
  await more();
  return find();
}

function listed({ state, pageData }: Model): readonly FoundDocument[] {
  return state.view === 'groups' ? pageData.review.groups.flatMap((group) => group.members) : pageData.documents;
}

async function tagOpened(model: Model, { id }: FoundDocument): Promise<void> {
  const { collection } = model;
  const openedTags = await predictTags(collection, { 'tagging.input.id': id });
  if (isOpened(model, collection, id)) model.update({ openedTags });
}
