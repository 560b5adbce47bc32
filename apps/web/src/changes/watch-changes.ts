import { KeyError } from '@akin/client';
import type { Actions } from '../actions.ts';
import { inTurn } from '../in-order.ts';
import { loadStatus } from '../load-collections.ts';
import type { Model } from '../model.ts';
import { loadChanges, loadMoreFailed } from './changes.ts';
import { watchFigures } from './watch-figures.ts';

/** Pause after an error that may pass. */
const RETRY_MILLISECONDS = 3_000;

/** Loads pending and failed changes, and updates them until another view is opened, or akin refuses the key. */
export async function watchChanges(model: Model): Promise<void> {
  const { signal } = model.start();
  model.update({ loading: false, error: null });
  let showsFigures = false;
  let hasFailed = false;
  while (!signal.aborted) {
    try {
      await refreshChanges(model);
      if (signal.aborted) return;
      if (hasFailed) model.update({ error: null });
      hasFailed = false;
      if (!showsFigures) void watchFigures(model, signal);
      showsFigures = true;
      for await (const event of model.collection.events({ signal })) {
        if (event.kind === 'status') await refreshChanges(model);
      }
    } catch (error) {
      if (signal.aborted) return;
      hasFailed = true;
      model.showError(error);
      if (error instanceof KeyError) return;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
  }
}

/** So that no answer replaces a later one. */
const inTurnOfRequests = inTurn();

const refreshChanges = (model: Model) => inTurnOfRequests(() => refresh(model));

async function refresh(model: Model): Promise<void> {
  const { collection } = model;
  const [status, loaded] = await Promise.all([
    loadStatus(model),
    loadChanges(collection, model.pageData.changes.failed.length),
  ]);
  if (collection.name !== model.collection.name) return;
  const changes = { ...model.pageData.changes, ...loaded, loadedAt: Date.now() };
  model.update({ ...(status && { status }), changes });
}

export async function loadMoreChanges(model: Model): Promise<void> {
  try {
    await inTurnOfRequests(async () => {
      const { collection } = model;
      const more = await loadMoreFailed(collection, model.pageData.changes);
      if (collection.name !== model.collection.name) return;
      model.update({ changes: { ...model.pageData.changes, ...more } });
    });
  } catch (error) {
    model.showError(error);
  }
}

export async function retryChanges(model: Model, what: Parameters<Actions['retry']>[0]): Promise<void> {
  const name = 'reason' in what ? what.reason : what.operation;
  const mark = (retrying: ReadonlySet<string>) => model.update({ changes: { ...model.pageData.changes, retrying } });
  mark(new Set([...model.pageData.changes.retrying, name]));
  try {
    const { collection } = model;
    await ('reason' in what ? collection.retryFailed(what.reason) : collection.retry(what.operation));
    await refreshChanges(model);
  } catch (error) {
    model.showError(error);
  }
  mark(new Set([...model.pageData.changes.retrying].filter((one) => one !== name)));
}
