import type { ModelSummary } from '../config.ts';
import type { Handler, HandlerFor } from '../http/serve.ts';

/** The content models that akin knows or has. */
export const models: Handler<unknown> = async ({ access }, { models: own }) => {
  const list = await own.list();
  const shown = access.scope === 'admin' ? list : list.map(withoutDetails);
  return { body: { models: shown, ...(own.refusal === undefined ? {} : { refusal: own.refusal }) } };
};

/** Why a download failed can name servers, which only administrators need to know. */
function withoutDetails({ download, ...model }: ModelSummary): ModelSummary {
  if (download?.msg === undefined) return { ...model, ...(download === undefined ? {} : { download }) };
  return { ...model, download: { ...download, msg: 'The download failed: an administrator sees why.' } };
}

export const pullModel: HandlerFor<'pullModel'> = ({ parameters }, { models }) => {
  models.pull(parameters.model);
  return { status: 202, body: {} };
};

export const stopPull: HandlerFor<'stopPull'> = async ({ parameters }, { models }) => {
  await models.stop(parameters.model);
  return { body: {} };
};
