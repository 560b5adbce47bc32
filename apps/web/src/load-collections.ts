import type { CollectionSummary } from '@akin/client';
import { cardFieldChoices, chosenCardFields, guessCardFields } from './card-fields.ts';
import { facetFieldsOf } from './facets.ts';
import { rangeFieldsOf } from './filters/ranges.ts';
import { inOrder } from './in-order.ts';
import type { Model } from './model.ts';

/** Of no commit: the next status loads the fields again. */
const NOT_LOADED = -1;
const schemas = inOrder();
const lists = inOrder();
const statuses = inOrder();

/** After an error the page has those that it had. */
export async function loadFields(model: Model): Promise<void> {
  const name = model.state.collection;
  const commit = model.pageData.status?.commit ?? null;
  const answer = await schemas(() => model.collection.schema()).catch(() => null);
  if (answer === undefined || name !== model.state.collection) return;
  model.fieldsCommit = answer === null ? NOT_LOADED : (commit ?? model.fieldsCommit ?? NOT_LOADED);
  if (answer === null) return;
  const { fields } = answer.schema;
  model.fields = facetFieldsOf(fields);
  model.rangeFields = rangeFieldsOf(fields);
  model.fieldNames = [...model.fields, ...model.rangeFields].map(({ name }) => name).join();
  const cardFields = chosenCardFields(name) ?? guessCardFields(fields);
  model.pageData = { ...model.pageData, cardFields, cardFieldChoices: cardFieldChoices(fields) };
}

/** Loads the fields if there was a commit since, unless they are being loaded for the first time. */
export async function updateFields(model: Model): Promise<void> {
  const { commit } = model.pageData.status ?? {};
  if (commit !== undefined && model.fieldsCommit !== null && model.fieldsCommit !== commit) await loadFields(model);
}

/** @returns undefined if a status that was asked for later is known already */
export function loadStatus({ collection }: Model): Promise<CollectionSummary | undefined> {
  return statuses(() => collection.status());
}

export async function loadCollections(model: Model): Promise<void> {
  const answer = await lists(() => model.akin.collections()).catch(() => undefined);
  if (answer) model.update({ collections: answer.collections.map(({ name }) => name) });
}
