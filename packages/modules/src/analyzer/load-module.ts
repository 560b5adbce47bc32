import { extname } from 'node:path';
import type { Module } from '../module.ts';

/**
 * Loads a registered module: the default export of `<name>/module.ts`. The path is built from the name, so that the
 * registry imports no module.
 */
export async function loadModule(name: string): Promise<Module> {
  const { default: module } = (await import(`../${name}/module${extname(import.meta.url)}`)) as { default: Module };
  return module;
}
