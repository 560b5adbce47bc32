import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Store } from '@akin/store';
import type { Handler } from '../http/serve.ts';

/** Whether the process can do its work. If not, a 503 says why. */
export const ready: Handler<ParametersOf<Endpoints['ready']>> = async ({ parameters }, context) => {
  await (parameters.check === 'http' ? context.httpReady() : context.ready());
  // A process without a store has no disk to check.
  const warnings = [(await context.store?.engine.disk?.warning()) ?? [], standbyWarnings(context.store)].flat();
  return { body: { status: 'OK', ...(warnings.length === 0 ? {} : { warnings }) }, enveloped: false };
};

/** Everybody may call this: it does not say where the server is, or why it does not answer. */
function standbyWarnings(store: Store | undefined): string[] {
  const statuses = store?.standbys.statuses ?? [];
  const left = statuses.filter(({ state }) => state !== 'used').length;
  if (left === 0) return [];
  return [`${left} of ${statuses.length} standbys are left out; the primary answers their searches. See /metrics.`];
}
