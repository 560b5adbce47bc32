import { backup as openBackup } from '@akin/store';
import type { Store } from '@akin/store/changes';
import { listProcesses } from '@akin/store/database';
import type { Handler, HandlerFor } from '../http/serve.ts';

export const live: Handler<unknown> = () => ({ body: { status: 'OK' }, enveloped: false });

export const ready: HandlerFor<'ready'> = async ({ parameters }, context) => {
  await (parameters.check === 'http' ? context.httpReady() : context.ready());
  // A process without a store has no disk to check.
  const warnings = [(await context.store?.engine.disk?.warning()) ?? [], standbyWarnings(context.store)].flat();
  return { body: { status: 'OK', warnings: warnings.length === 0 ? undefined : warnings }, enveloped: false };
};

/** Everybody may call this: it does not say where the server is, or why it does not answer. */
function standbyWarnings(store: Store | undefined): string[] {
  const statuses = store?.standbys.statuses ?? [];
  const left = statuses.filter(({ state }) => state !== 'used').length;
  if (left === 0) return [];
  return [`${left} of ${statuses.length} standbys are left out; the primary answers their searches. See /metrics.`];
}

export const metrics: Handler<unknown> = async (_call, context) => {
  const { type, text } = await context.metrics.text();
  return { type, bytes: text };
};

export const processes: Handler<unknown> = async (_call, { store }) => ({
  body: {
    processes: (await listProcesses(store)).map(({ connectedAt, ...process }) => ({
      ...process,
      connectedAt: connectedAt.toISOString(),
    })),
  },
});

export const backup: HandlerFor<'backup'> = async ({ signal }, { store }) => {
  const bytes = await openBackup(store);
  // The backup ends when the process ends or the client disconnects.
  if (signal.aborted) bytes.destroy();
  signal.addEventListener('abort', () => bytes.destroy(signal.reason), { once: true });
  return {
    type: 'application/gzip',
    chunks: () => bytes,
    headers: { 'cache-control': 'no-store', 'content-disposition': 'attachment; filename="akin.backup"' },
  };
};
