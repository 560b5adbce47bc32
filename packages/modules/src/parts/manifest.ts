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
      // The header of the format, and points of 20 bytes.
      pattern: 'Ag[A-Za-z0-9+/]{6}(?:[A-Za-z0-9+/]{80})*(?:[A-Za-z0-9+/]{27}=|[A-Za-z0-9+/]{54}==)?',
    },
  ],
  points: 'parts_points',
};
