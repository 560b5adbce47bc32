import type { Handler } from '../http/frame.ts';

/** Whether requests can be served. A store that is down is a 503 by its own error. */
export const ready: Handler<unknown> = async (_call, { store }) => {
  await store.ping();
  return { body: { status: 'OK' }, enveloped: false };
};
