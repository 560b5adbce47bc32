import { listProcesses } from '@akin/store';
import type { Handler } from '../http/serve.ts';

/** What runs where, as the shared database knows it. */
export const processes: Handler<unknown> = async (_call, { store }) => ({
  body: {
    processes: (await listProcesses(store)).map(({ connectedAt, ...process }) => ({
      ...process,
      connectedAt: connectedAt.toISOString(),
    })),
  },
});
