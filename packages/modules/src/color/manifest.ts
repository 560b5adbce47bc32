import type { ModuleManifest } from '@akin/domain';

/** Colours of the subject: a palette with names, and a descriptor that ranks by picture or by chosen colours. */
export const colorManifest: ModuleManifest = {
  name: 'color',
  outputs: [
    { name: 'color_palette_hex', type: 'strings', returnedByDefault: true },
    { name: 'color_palette_freq', type: 'doubles', returnedByDefault: true },
    { name: 'color_names', type: 'strings', returnedByDefault: true },
    { name: 'color_isolated', type: 'boolean', returnedByDefault: true },
    { name: 'color_cluster', type: 'long', returnedByDefault: true },
    { name: 'color_rerank', type: 'long', returnedByDefault: true },
    { name: 'color_descriptor', type: 'string', returnedByDefault: false },
    { name: 'color_lopq', type: 'string', returnedByDefault: false },
    { name: 'color_nclusters', type: 'string', returnedByDefault: false },
  ],
  descriptor: { output: 'color_descriptor', cell: 'color_cluster', dimensions: 64 },
};
