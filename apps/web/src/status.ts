import { facetFieldsOf } from './facets.ts';
import { rangeFieldsOf } from './filters/ranges.ts';
import type { Model } from './model.ts';
import { PAGE_SIZE } from './results.ts';
import { mayReload } from './review/load-groups.ts';
import { search } from './search.ts';

/** How often the page asks whether documents came in. */
const STATUS_MILLISECONDS = 3_000;

/** Keeps the number of documents up to date. */
export async function watchStatus(model: Model): Promise<void> {
  await lookAtStatus(model);
  setTimeout(() => void watchStatus(model), STATUS_MILLISECONDS);
}

/** Tells how many documents there are, and shows new ones where this disturbs nobody. */
export async function lookAtStatus(model: Model): Promise<void> {
  const name = model.state.collection;
  try {
    const status = await model.collection.status();
    if (name !== model.state.collection) return;
    const grew = model.shown.status !== null && status.commit !== model.shown.status.commit;
    model.update({ status, scope: status.scope ?? null });
    if (grew) await loadFields(model);
    const { state, shown } = model;
    const atStart = shown.documents.length <= PAGE_SIZE && scrollY < innerHeight && !shown.opened;
    const may = state.view === 'groups' ? mayReload(model) : atStart && !shown.loading;
    if (grew && may && state.view !== 'changes') void search(model, 0, true);
  } catch {
    // The next search shows the error.
  }
}

/** Learns which fields have facets. Without them the page has none. */
export async function loadFields(model: Model): Promise<void> {
  const name = model.state.collection;
  const schema = await model.collection.schema().catch(() => undefined);
  if (name !== model.state.collection) return;
  const fields = schema?.schema.fields ?? [];
  model.fields = facetFieldsOf(fields);
  model.rangeFields = rangeFieldsOf(fields);
}

/** Which other collections there are to choose from, as far as the key allows. */
export async function loadCollections(model: Model): Promise<void> {
  const { collections } = await model.akin.collections().catch(() => ({ collections: [] }));
  model.update({ collections: collections.map(({ name }) => name) });
}
