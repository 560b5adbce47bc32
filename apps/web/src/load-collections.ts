import { cardFieldChoices, chosenCardFields, guessCardFields } from './card-fields.ts';
import { facetFieldsOf } from './facets.ts';
import { rangeFieldsOf } from './filters/ranges.ts';
import type { Model } from './model.ts';

/** After an error the page has none. */
export async function loadFields(model: Model): Promise<void> {
  const name = model.state.collection;
  const schema = await model.collection.schema().catch(() => undefined);
  if (name !== model.state.collection) return;
  const fields = schema?.schema.fields ?? [];
  model.fields = facetFieldsOf(fields);
  model.rangeFields = rangeFieldsOf(fields);
  const cardFields = chosenCardFields(name) ?? guessCardFields(fields);
  model.pageData = { ...model.pageData, cardFields, cardFieldChoices: cardFieldChoices(fields) };
}

export async function loadCollections(model: Model): Promise<void> {
  const { collections } = await model.akin.collections().catch(() => ({ collections: [] }));
  model.update({ collections: collections.map(({ name }) => name) });
}
