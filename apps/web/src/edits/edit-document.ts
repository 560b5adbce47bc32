import type { Collection, FoundDocument, Plain } from '@akin/client';
import { titleOf } from '../elements.ts';
import { fieldTitle, filterOf } from '../facets.ts';
import { inTurn } from '../in-order.ts';
import { forgetResults } from '../kept-results.ts';
import type { Model } from '../model.ts';
import { TEXTS } from '../texts.ts';
import { askUser } from './ask-user.ts';
import { labelsIn, labelsOf } from './labels.ts';
import { EDITS_TEXTS } from './texts.ts';

const T = TEXTS.details;

/** Changes of fields, as in atomic updates. */
type Changes = Readonly<Record<string, { readonly [modifier: string]: Plain | readonly string[] | null }>>;

export async function editTitle(model: Model, document: FoundDocument): Promise<void> {
  const title = await askForText(T.renameTitle, T.renameTitle, titleOf(document));
  if (title !== null) await change(model, document, { title: { set: title } });
}

/** Akin reads the text as the type of the field. */
export async function editField(model: Model, document: FoundDocument, field: string): Promise<void> {
  const text = await askForText(T.edit(fieldTitle(field)), fieldTitle(field), String(document[field] ?? ''));
  if (text !== null) await change(model, document, { [field]: { set: text } });
}

export async function askForLabel(model: Model, document: FoundDocument): Promise<void> {
  const values = await labelsOf(model.collection);
  const { name: label, commas: text, add: action } = EDITS_TEXTS;
  const answer = await askUser({ title: T.addLabelTitle, text, action, input: { label, values } });
  if (answer !== null) await addLabels(model, document, labelsIn(answer.text, values));
}

export async function addLabels(model: Model, document: FoundDocument, labels: readonly string[]): Promise<void> {
  if (labels.length > 0) await change(model, document, { labels: { 'add-distinct': labels } });
}

export async function removeLabel(model: Model, document: FoundDocument, label: string): Promise<void> {
  await change(model, document, { labels: { remove: [label] } });
}

/** A longer text, or one of several lines, is edited as such. */
const MAX_LINE = 60;

async function askForText(title: string, label: string, value: string): Promise<string | null> {
  const shown = value.replace(/\r\n?/g, '\n');
  const isLong = shown.length > MAX_LINE || shown.includes('\n');
  const answer = await askUser({ title, action: T.save, input: { label, value: shown, isLong } });
  return answer && answer.text !== shown ? answer.text : null;
}

/** The fields that are read after a change are those after all changes before. */
const inTurnOfChanges = inTurn();

/** Changes a document that must still exist, and shows its new fields wherever the page shows it. */
function change(model: Model, { id }: FoundDocument, changes: Changes): Promise<void> {
  const { collection } = model;
  return inTurnOfChanges(() => send(model, collection, id, changes));
}

async function send(model: Model, collection: Collection, id: string, changes: Changes): Promise<void> {
  try {
    const update = new TextEncoder().encode(JSON.stringify({ id, _version_: 1, ...changes }));
    await collection.addJson(update, { commit: true });
    forgetResults();
    const fresh = await readDocument(collection, id);
    if (fresh === undefined || collection.name !== model.state.collection) return;
    // The score is one of the search.
    const renew = (one: FoundDocument) =>
      one.id === id ? { ...fresh, ...('score' in one ? { score: one.score } : {}) } : one;
    const { opened, documents, review } = model.pageData;
    model.update({
      error: null,
      opened: opened && renew(opened),
      documents: documents.map(renew),
      review: { ...review, groups: review.groups.map((group) => ({ ...group, members: group.members.map(renew) })) },
    });
  } catch (error) {
    model.showError(error);
  }
}

async function readDocument(collection: Collection, id: string): Promise<FoundDocument | undefined> {
  return (await collection.select({ fq: filterOf('id', id), rows: 1 })).response.docs[0];
}
