import { facetFieldsOf } from './facets.ts';
import { rangeFieldsOf } from './filters/ranges.ts';
import type { Model } from './model.ts';
import { PAGE_SIZE } from './results.ts';
import { mayReload } from './review/load-groups.ts';
import { search } from './search.ts';

/** Interval of requests for the number of documents. */
const STATUS_MILLISECONDS = 3_000;

/** Updates the number of documents regularly. */
export async function watchStatus(model: Model): Promise<void> {
  await updateStatus(model);
  setTimeout(() => void watchStatus(model), STATUS_MILLISECONDS);
}

/** Shows the number of documents, and new documents if that does not disturb the user. */
export async function updateStatus(model: Model): Promise<void> {
  const name = model.state.collection;
  try {
    const status = await model.collection.status();
    if (name !== model.state.collection) return;
    const grew = model.pageData.status !== null && status.commit !== model.pageData.status.commit;
    model.update({ status, scope: status.scope ?? null });
    if (grew) await loadFields(model);
    const { state, pageData } = model;
    const atStart = pageData.documents.length <= PAGE_SIZE && scrollY < innerHeight && !pageData.opened;
    const may = state.view === 'groups' ? mayReload(model) : atStart && !pageData.loading;
    if (grew && may && state.view !== 'changes') void search(model, 0, true);
  } catch {
    // Ignored here: the next search shows the error.
  }
}

/** Loads the fields that can be facets. After an error the page has none. */
export async function loadFields(model: Model): Promise<void> {
  const name = model.state.collection;
  const schema = await model.collection.schema().catch(() => undefined);
  if (name !== model.state.collection) return;
  const fields = schema?.schema.fields ?? [];
  model.fields = facetFieldsOf(fields);
  model.rangeFields = rangeFieldsOf(fields);
}

/** Loads the names of the other collections that the key allows. */
export async function loadCollections(model: Model): Promise<void> {
  const { collections } = await model.akin.collections().catch(() => ({ collections: [] }));
  model.update({ collections: collections.map(({ name }) => name) });
}
