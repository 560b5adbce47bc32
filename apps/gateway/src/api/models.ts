import type { ModelSummary } from '@akin/contract';
import type { Handler, HandlerFor } from '../http/serve.ts';

export const models: Handler<unknown> = async ({ access }, { models: own }) => {
  const list = await own.list();
  const shown = access.scope === 'admin' ? list : list.map(withoutDetails);
  return { body: { models: shown, refusal: own.refusal } };
};

/** Why a download failed can name servers, which only administrators need to know. */
function withoutDetails({ download, ...model }: ModelSummary): ModelSummary {
  const msg = download?.msg && 'The download failed: an administrator sees why.';
  return { ...model, download: download && { ...download, msg } };
}

export const pullModel: HandlerFor<'pullModel'> = ({ parameters }, { models }) => {
  models.pull(parameters.model);
  return { status: 202, body: {} };
};

export const stopPull: HandlerFor<'stopPull'> = async ({ parameters }, { models }) => {
  await models.stop(parameters.model);
  return { body: {} };
};
