import { openStore } from '@akin/store';
import type { Store } from '@akin/store/changes';
import type { ContentModels } from '../models/content-models.ts';
import { reportPoolUse, reportSearchMemory, reportStandbys } from '../process-metrics.ts';
import type { FleetProcess } from './fleet-process.ts';

/** Opens the database that the processes of a fleet share, for as long as this one runs. */
export async function openFleetStore(
  { name, log, parts, retry, metrics }: Pick<FleetProcess, 'name' | 'log' | 'parts' | 'retry' | 'metrics'>,
  config: {
    readonly databaseUrl: string;
    readonly standbyUrls?: readonly string[];
    readonly throttled: boolean;
    readonly searchMemory?: number;
  },
  models: ContentModels,
): Promise<Store> {
  const { databaseUrl, standbyUrls = [], throttled, searchMemory } = config;
  const open = () =>
    openStore({
      ...models.forStore,
      databaseUrl,
      standbyUrls,
      shared: true,
      process: name,
      throttled,
      ...(searchMemory === undefined ? {} : { searchMemory }),
    });
  const store = parts.use('store', await retry('the database', open));
  reportPoolUse(metrics, store);
  reportSearchMemory(metrics, store);
  reportStandbys(metrics, store, log);
  return store;
}
