import type { Handler } from '../http/serve.ts';

/** The content models that akin knows or has. */
export const models: Handler<unknown> = async (_call, { models: own }) => ({
  body: { models: await own.list(), ...(own.refusal === undefined ? {} : { refusal: own.refusal }) },
});
