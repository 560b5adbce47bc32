import type { ModuleManifest } from '@akin/domain';
import { colorManifest } from './color/manifest.ts';
import { contentManifest } from './content/manifest.ts';
import { copyspaceManifest } from './copyspace/manifest.ts';
import { duplicateManifest } from './duplicate/manifest.ts';
import type { Module } from './module.ts';

/** A module as the rest of akin knows it: told by its manifest, loaded when a picture is analyzed by it. */
export interface Registration {
  readonly manifest: ModuleManifest;
  readonly load: () => Promise<{ readonly default: Module }>;
}

/**
 * Every module, in the order in which outputs and parameters name them. A new module is a folder and a line here; if
 * it has a descriptor, `npm run train-codebooks` makes the codebook that goes with it.
 */
export const REGISTRY: readonly Registration[] = [
  { manifest: colorManifest, load: () => import('./color/module.ts') },
  { manifest: contentManifest, load: () => import('./content/module.ts') },
  { manifest: copyspaceManifest, load: () => import('./copyspace/module.ts') },
  { manifest: duplicateManifest, load: () => import('./duplicate/module.ts') },
];
