import { calibrations, models, modulesInUse, parseOutputs } from '@akin/modules/vectors';
import type { StoreConfig } from '@akin/store';

/** How an akin that makes or compares outputs opens a store: with its modules, and the models that it has for them. */
export function ownModules(): Pick<StoreConfig, 'modules' | 'models' | 'calibrations' | 'parseOutputs'> {
  return { modules: modulesInUse(), models: models(), calibrations: calibrations(), parseOutputs };
}
