import type { NewKey } from '@akin/client';
import { askUser } from '../edits/ask-user.ts';
import { loadCollections } from '../load-collections.ts';
import type { Model } from '../model.ts';
import { TEXTS } from '../texts.ts';
import { DEMO, loadManageState, updateManageState } from './load-manage-state.ts';
import { saveNewModel } from './models.ts';
import { MODELS_TEXTS, MANAGE_TEXTS as T } from './texts.ts';

/** Runs an action, and reloads the view if the user has not left it. */
async function act(model: Model, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
    await Promise.all([model.state.view === 'manage' ? loadManageState(model) : undefined, loadCollections(model)]);
  } catch (error) {
    model.showError(error);
  }
}

export function createCollection(model: Model, name: string, contentModel?: string): Promise<void> {
  return act(model, () =>
    model.akin.collection(name).create(contentModel === undefined ? {} : { model: contentModel }),
  );
}

/**
 * Deletes a collection after the user has typed its name.
 *
 * @param leave Shows another collection if this one is shown: the page asks for its changes all the time.
 */
export async function dropCollection(
  model: Model,
  name: string,
  leave: (name: string) => Promise<void>,
): Promise<void> {
  const typed = await askUser({
    title: T.dropOf(name),
    text: T.dropText(name),
    action: T.drop,
    input: { label: TEXTS.page.collectionName },
  });
  if (typed === null) return;
  if (typed.text !== name) return model.update({ error: T.otherName });
  await act(model, async () => {
    await leave(name);
    await model.akin.collection(name).drop();
  });
}

export async function clearDemo(model: Model): Promise<void> {
  const { collection } = model;
  if (
    (await askUser({ title: T.clearDemo, text: T.clearText(model.pageData.managed.demo), action: T.clearDemo })) ===
    null
  )
    return;
  await act(model, () => collection.deleteByQuery(DEMO, { commit: true }));
}

export function createKey(model: Model, key: NewKey): Promise<void> {
  return act(model, async () => {
    const { key: newKey } = await model.akin.createKey(key);
    updateManageState(model, { newKey });
  });
}

export async function revokeKey(model: Model, id: string, name: string): Promise<void> {
  if ((await askUser({ title: T.revokeOf(name), text: T.revokeText, action: T.revoke })) === null) return;
  await act(model, () => model.akin.revokeKey(id));
}

export function pullModel(model: Model, name: string): Promise<void> {
  return act(model, () => model.akin.pullModel(name));
}

export function stopPull(model: Model, name: string): Promise<void> {
  return act(model, () => model.akin.stopPull(name));
}

/** Chooses the model of collections that are created on this page; null: the default one of akin. */
export function setNewModel(model: Model, newModel: string | null): void {
  saveNewModel(newModel);
  updateManageState(model, { newModel });
}

/** Asks, and then analyzes the current collection again with another model. */
export async function reindex(model: Model, name: string): Promise<void> {
  const { collection } = model;
  const documents = model.pageData.status?.documents ?? 0;
  const [title, text] = [MODELS_TEXTS.useOf(collection.name, name), MODELS_TEXTS.useText(documents, name)];
  if ((await askUser({ title, text, action: MODELS_TEXTS.useAction })) === null) return;
  await act(model, async () => updateManageState(model, { reindex: await collection.reindex({ model: name }) }));
}

export function pauseReindex(model: Model): Promise<void> {
  return act(model, () => model.collection.pauseReindex());
}

export function resumeReindex(model: Model): Promise<void> {
  return act(model, () => model.collection.resumeReindex());
}
