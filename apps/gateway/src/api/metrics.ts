import type { Handler } from '../http/serve.ts';

export const metrics: Handler<unknown> = async (_call, context) => {
  const { type, text } = await context.metrics.text();
  return { type, bytes: text };
};
