import { MODULES } from '@akin/modules/manifests';
import { findCollection, loadSchema } from '@akin/store/database';
import { presentCollection } from '../collections/present.ts';
import type { HandlerFor } from '../http/serve.ts';

export const pixolution: HandlerFor<'pixolution'> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  const status = await presentCollection(store, collection);
  const { fields } = await loadSchema(store, collection);
  const checks = [
    { name: 'store', ok: true, msg: `answers; ${status.documents} documents as of commit ${status.commit}` },
    ...MODULES.map(({ name, outputs }) => {
      const missing = outputs.filter((output) => !fields.has(output.name)).map((output) => output.name);
      const msg = missing.length === 0 ? 'all fields exist' : `fields are missing: ${missing.join(', ')}`;
      return { name: `module ${name}`, ok: missing.length === 0, msg };
    }),
  ];
  return { body: { status: checks.every(({ ok }) => ok) ? 'OK' : 'FAILED', checks } };
};
