import type { ModuleManifest } from '@akin/domain';
import { descriptorOutputs } from '../vectors/descriptor-outputs.ts';

/** What a picture shows: things, scenes, style. */
export const contentManifest: ModuleManifest = { name: 'content', ...descriptorOutputs('content', 256) };
