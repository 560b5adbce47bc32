import { MODULES } from '@akin/modules/manifests';

/** How pictures are compared: the name of a module that has a descriptor. */
export type Mode = string;

export const DEFAULT_MODE: Mode = 'content';

/** Every mode, the default first. */
export const MODES: readonly Mode[] = MODULES.filter(({ descriptor }) => descriptor)
  .map(({ name }) => name)
  .sort((a, b) => Number(b === DEFAULT_MODE) - Number(a === DEFAULT_MODE));
