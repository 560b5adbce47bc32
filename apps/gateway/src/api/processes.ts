import { listProcesses } from '@akin/store';
import type { Handler } from '../http/serve.ts';

/** The processes of the fleet, as the shared database knows them. */
export const processes: Handler<unknown> = async (_call, { store }) => ({
  body: {
    processes: (await listProcesses(store)).map(({ connectedAt, ...process }) => ({
      ...process,
      connectedAt: connectedAt.toISOString(),
    })),
  },
});
