import type { ModuleManifest } from '@akin/domain';

/** Points of a picture by which its parts are found, in it and in other pictures. */
export const partsManifest: ModuleManifest = {
  name: 'parts',
  isOptional: true,
  outputs: [
    {
      name: 'parts_points',
      type: 'string',
      returnedByDefault: false,
      isBytes: true,
      // At least the header of the format.
      pattern: 'AQ[A-Za-z0-9+/]{6}(?:[A-Za-z0-9+/]{48})*',
    },
  ],
  points: 'parts_points',
};
