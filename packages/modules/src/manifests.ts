/** The entry point for code that lists modules and runs none: gateway, store, command line. */
import { AkinError, type ModuleManifest } from '@akin/domain';
import { colorManifest } from './color/manifest.ts';
import { contentManifest } from './content/manifest.ts';
import { copyspaceManifest } from './copyspace/manifest.ts';
import { duplicateManifest } from './duplicate/manifest.ts';

/**
 * The registry: every module, in the order in which outputs and parameters name them. A new module is a folder of its
 * name and a line here; if it has a descriptor, `npm run train-codebooks` makes the codebook that goes with it.
 */
export const MODULES: readonly ModuleManifest[] = [
  colorManifest,
  contentManifest,
  copyspaceManifest,
  duplicateManifest,
];

export const moduleNames: readonly string[] = MODULES.map(({ name }) => name);

/**
 * Reads the parameter `modules.apply`: a comma list of module names. Absent or empty means all; the answer is in the
 * order of the registry, without repetitions.
 *
 * @throws {AkinError} bad-request naming the unknown module and those that exist.
 */
export function parseModulesApply(text: string | undefined): string[] {
  const asked = (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const unknown = asked.find((name) => !moduleNames.includes(name));
  if (unknown !== undefined) {
    throw new AkinError(
      'bad-request',
      `modules.apply names ${JSON.stringify(unknown.slice(0, 40))}, which is no module. Use some of ${moduleNames.join(', ')}.`,
    );
  }
  return moduleNames.filter((name) => asked.length === 0 || asked.includes(name));
}
