import type { ModuleManifest } from '@akin/domain';
import { descriptorOutputs } from '../vectors/descriptor-outputs.ts';

const { outputs, descriptor } = descriptorOutputs('color', 64);

/** Colours of the subject: a palette with names, and a descriptor that ranks by picture or by chosen colours. */
export const colorManifest: ModuleManifest = {
  name: 'color',
  outputs: [
    { name: 'color_palette_hex', type: 'strings', returnedByDefault: true, pattern: '#[0-9A-F]{6}' },
    { name: 'color_palette_freq', type: 'doubles', returnedByDefault: true, range: [0, 1] },
    { name: 'color_names', type: 'strings', returnedByDefault: true, pattern: '[a-z ]{1,40}' },
    { name: 'color_isolated', type: 'boolean', returnedByDefault: true },
    ...outputs,
  ],
  descriptor,
};
