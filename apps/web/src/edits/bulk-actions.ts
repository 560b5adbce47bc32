import { strings } from '../elements.ts';
import { forgetResults } from '../kept-results.ts';
import { loadCollections } from '../load-collections.ts';
import type { Model } from '../model.ts';
import { TEXTS } from '../texts.ts';
import { offerUndo, readDocuments, storeDocuments } from '../undo.ts';
import { askUser } from './ask-user.ts';
import { labelsIn, labelsOf } from './labels.ts';
import { EDITS_TEXTS as T } from './texts.ts';

/** Documents copied in one step: each takes some 30 kB of memory. */
const COPIED = 500;

export async function labelSelected(model: Model): Promise<boolean> {
  const { collection } = model;
  const documents = model.pageData.documents.filter(({ id }) => model.pageData.selected.has(id));
  const values = await labelsOf(collection);
  const answer = await askUser({
    title: T.label(documents.length),
    text: T.commas,
    action: T.add,
    second: T.remove,
    input: { label: T.name, values },
  });
  if (answer === null) return false;
  const labels = labelsIn(answer.text, [...values, ...documents.flatMap((one) => strings(one.labels))]);
  const changed = documents
    .map((one) => ({
      id: one.id,
      own: labels.filter((label) => strings(one.labels).includes(label) === answer.isSecond),
    }))
    .filter(({ own }) => own.length > 0);
  const change = async (modifier: 'add-distinct' | 'remove') => {
    const changes = changed.map(({ id, own }) => ({ id, labels: { [modifier]: own } }));
    await collection.addJson(new TextEncoder().encode(JSON.stringify(changes)), { commit: true });
  };
  const [doing, undoing] = answer.isSecond
    ? (['remove', 'add-distinct'] as const)
    : (['add-distinct', 'remove'] as const);
  try {
    if (changed.length > 0) await change(doing);
    forgetResults();
    model.update({ error: null });
    const text = (answer.isSecond ? T.removed : T.added)(labels, changed.length);
    offerUndo(model, { text, undo: changed.length > 0 ? () => change(undoing) : undefined });
    return true;
  } catch (error) {
    model.showError(error);
    return false;
  }
}

export async function copySelected(model: Model): Promise<void> {
  const { collection } = model;
  const ids = [...model.pageData.selected];
  const answer = await askUser({
    title: T.copy(ids.length),
    text: T.copyText,
    action: T.copyAction,
    input: { label: TEXTS.page.collectionName, values: model.pageData.collections },
  });
  if (answer === null) return;
  const other = model.akin.collection(answer.text);
  try {
    const { collections } = await model.akin.collections();
    if (!collections.some(({ name }) => name === answer.text)) await other.create();
    for (let i = 0; i < ids.length; i += COPIED) {
      await storeDocuments(other, await readDocuments(collection, ids.slice(i, i + COPIED)));
    }
    const selected = new Set([...model.pageData.selected].filter((id) => !ids.includes(id)));
    model.update({ error: null, selected });
    offerUndo(model, { text: T.copied(ids.length, answer.text), undo: undefined });
    await loadCollections(model);
  } catch (error) {
    model.showError(error);
  }
}
