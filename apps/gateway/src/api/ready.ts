import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';

/** Whether the process can do its work. What is in the way is a 503 that says so. */
export const ready: Handler<ParametersOf<Endpoints['ready']>> = async ({ parameters }, context) => {
  await (parameters.door === 'http' ? context.answers() : context.ready());
  // A process without a store has no disk to check.
  const warning = await context.store?.engine.disk?.warning();
  return { body: { status: 'OK', ...(warning === undefined ? {} : { warnings: [warning] }) }, enveloped: false };
};
