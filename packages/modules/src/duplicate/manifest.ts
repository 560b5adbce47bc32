import type { ModuleManifest } from '@akin/domain';
import { descriptorOutputs } from '../vectors/descriptor-outputs.ts';

/** Whether two pictures are copies of one: recompressed, scaled, cropped, edited. */
export const duplicateManifest: ModuleManifest = { name: 'duplicate', ...descriptorOutputs('duplicate', 256) };
