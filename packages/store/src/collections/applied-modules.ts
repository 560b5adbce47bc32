import type { Collection, Store } from '../context.ts';

/**
 * The modules that analyze the pictures of a collection, unless a request names others.
 *
 * @returns undefined for all modules that are not optional
 */
export function appliedModules(
  { defaultModules }: Pick<Store, 'defaultModules'>,
  { settings }: Pick<Collection, 'settings'>,
): readonly string[] | undefined {
  return Array.isArray(settings.modules) ? settings.modules : defaultModules;
}
