import type { Endpoints, ParametersOf } from '@akin/contract';
import { backup as openBackup } from '@akin/store';
import type { Handler } from '../http/serve.ts';

/** The embedded store as one file, sent no faster than the client reads. */
export const backup: Handler<ParametersOf<Endpoints['backup']>> = async ({ signal }, { store }) => {
  const bytes = await openBackup(store);
  // The backup ends when the process ends or the client disconnects.
  if (signal.aborted) bytes.destroy();
  signal.addEventListener('abort', () => bytes.destroy(signal.reason), { once: true });
  return {
    type: 'application/gzip',
    events: (async function* () {
      yield* bytes;
    })(),
    headers: { 'cache-control': 'no-store', 'content-disposition': 'attachment; filename="akin.backup"' },
  };
};
