import type { Handler } from '../http/serve.ts';

export const live: Handler<unknown> = () => ({ body: { status: 'OK' }, enveloped: false });
