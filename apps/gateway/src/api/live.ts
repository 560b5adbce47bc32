import type { Handler } from '../http/serve.ts';

/** Whether the process answers. */
export const live: Handler<unknown> = () => ({ body: { status: 'OK' }, enveloped: false });
