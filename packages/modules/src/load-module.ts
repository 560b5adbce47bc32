import type { Module } from './module.ts';

/**
 * Loads a registered module: the default export of `<name>/module.ts`. By its name rather than by a list, so that the
 * registry stays light: it names modules and loads none.
 */
export async function loadModule(name: string): Promise<Module> {
  const { default: module } = (await import(`./${name}/module.ts`)) as { default: Module };
  return module;
}
