import { AkinRequestError } from '@akin/client';
import type { Model } from '../model.ts';
import type { ManageState } from './state.ts';

/** A query for the demo's documents. */
export const DEMO = 'id:demo-*';

/** Loads the data of the view. */
export async function loadManageState(model: Model): Promise<void> {
  const { signal } = model.start();
  model.update({ loading: false, error: null });
  try {
    const [{ collections }, keys, demo] = await Promise.all([
      model.akin.collections(),
      // Loads the keys, if the user may manage them.
      model.akin.keys().catch((error) => {
        if (error instanceof AkinRequestError && error.status !== 0) return null;
        throw error;
      }),
      demoOf(model),
    ]);
    if (!signal.aborted) updateManageState(model, { collections, keys: keys?.keys ?? null, ...demo });
  } catch (error) {
    if (!signal.aborted) model.showError(error);
  }
}

/** Counts the demo's pictures in the current collection. */
async function demoOf({ collection }: Model): Promise<Pick<ManageState, 'demo' | 'demoCollection'>> {
  const found = await collection.select({ fq: DEMO, rows: 0 }).catch(() => undefined);
  return { demo: found?.response.numFound ?? 0, demoCollection: collection.name };
}

/** Changes this part of the state. */
export function updateManageState(model: Model, change: Partial<ManageState>): void {
  model.update({ managed: { ...model.pageData.managed, ...change } });
}
