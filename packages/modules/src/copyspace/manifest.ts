import type { ModuleManifest } from '@akin/domain';

/** Where a picture has free space for text. */
export const copyspaceManifest: ModuleManifest = {
  name: 'copyspace',
  outputs: [{ name: 'copyspace', type: 'longs', returnedByDefault: true, range: [0, 8] }],
};
