import { AkinRequestError } from '@akin/client';
import type { Model } from '../model.ts';
import type { Managed } from './state.ts';

/** The ids of the demo. */
export const DEMO = 'id:demo-*';

/** Asks for all that the view shows. */
export async function loadManaged(model: Model): Promise<void> {
  const { signal } = model.start();
  model.update({ loading: false, error: null });
  try {
    const [{ collections }, keys, demo] = await Promise.all([
      model.akin.collections(),
      // Only for who may change them.
      model.akin.keys().catch((error) => {
        if (error instanceof AkinRequestError && error.status !== 0) return null;
        throw error;
      }),
      demoOf(model),
    ]);
    if (!signal.aborted) updateManaged(model, { collections, keys: keys?.keys ?? null, ...demo });
  } catch (error) {
    if (!signal.aborted) model.update({ error: model.told(error) });
  }
}

/** How many pictures of the demo the collection of the page holds. */
async function demoOf({ collection }: Model): Promise<Pick<Managed, 'demo' | 'of'>> {
  const answer = await collection.select({ fq: DEMO, rows: 0 }).catch(() => undefined);
  return { demo: answer?.response.numFound ?? 0, of: collection.name };
}

/** Changes what is known. */
export function updateManaged(model: Model, change: Partial<Managed>): void {
  model.update({ managed: { ...model.shown.managed, ...change } });
}
