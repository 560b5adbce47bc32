import type { Handler } from '../http/frame.ts';

/** Whether requests can be served. What is in the way is a 503 that says so. */
export const ready: Handler<unknown> = async (_call, context) => {
  await context.ready();
  return { body: { status: 'OK' }, enveloped: false };
};
