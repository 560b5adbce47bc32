/** The entry point for code that lists modules but does not run them: gateway, store, command line. */
import { badRequest, type ModuleManifest } from '@akin/domain';
import { colorManifest } from './color/manifest.ts';
import { contentManifest } from './content/manifest.ts';
import { copyspaceManifest } from './copyspace/manifest.ts';
import { duplicateManifest } from './duplicate/manifest.ts';
import { partsManifest } from './parts/manifest.ts';

/**
 * The registry of all modules, in the order of outputs and parameters. A new module needs a folder of its name and a
 * line here; if it has a descriptor, `npm run train-codebooks` creates its codebook.
 */
export const MODULES: readonly ModuleManifest[] = [
  colorManifest,
  contentManifest,
  copyspaceManifest,
  duplicateManifest,
  partsManifest,
];

export const moduleNames: readonly string[] = MODULES.filter(({ isOptional }) => !isOptional).map(({ name }) => name);

/**
 * Parses the parameter `modules.apply`: module names separated by commas. Absent or empty means all that are not
 * optional. The result is in the order of the registry, without duplicates.
 *
 * @throws {AkinError} bad-request that names the unknown module and the existing ones.
 */
export function parseModulesApply(text: string | undefined): string[] {
  const asked = (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const all = MODULES.map(({ name }) => name);
  const unknown = asked.find((name) => !all.includes(name));
  if (unknown !== undefined) {
    throw badRequest(
      `modules.apply names ${JSON.stringify(unknown.slice(0, 40))}, which is not a module. Use some of ${all.join(', ')}.`,
    );
  }
  return asked.length === 0 ? [...moduleNames] : all.filter((name) => asked.includes(name));
}
