import { readFile } from 'node:fs/promises';
import { roundToHalves } from '@akin/domain';
import { decodeImage } from '@akin/imaging';
import { MIN_SIDE, sharedNetworks } from '@akin/modules/internal/analyzer/analyze-image';
import { loadModule } from '@akin/modules/internal/analyzer/load-module';
import { listFiles } from '@akin/modules/internal/learn/list-files';
import { type Rows, toRows } from '@akin/modules/internal/learn/rows';
import type { Descriptor } from '@akin/modules/internal/module';
import type { Backend } from '@akin/modules/internal/network/backend';
import { preparePicture } from '@akin/modules/internal/picture/picture';
import { MODULES } from '@akin/modules/manifests';

export interface Described {
  readonly model: string;
  readonly vectors: Rows;
}

/**
 * The descriptors of some modules for every picture in a folder and its subfolders, by module, sorted by path. Files
 * that are not pictures are reported to `skip` and omitted.
 */
export async function describeFolder(
  folder: string,
  modules: readonly string[],
  backend: Backend,
  progress: (done: number, all: number) => void,
  skip: (file: string, why: string) => void,
): Promise<Map<string, Described>> {
  const files = await listFiles(folder);
  const found = new Map<string, Descriptor[]>();
  for (const [i, file] of files.entries()) {
    try {
      for (const [module, descriptor] of await describe(await readFile(file), modules, backend)) {
        const descriptors = found.get(module);
        if (descriptors) descriptors.push(descriptor);
        else found.set(module, [descriptor]);
      }
    } catch (error) {
      skip(file, error instanceof Error ? error.message : String(error));
    }
    progress(i + 1, files.length);
  }
  return new Map(Array.from(found, ([module, descriptors]) => [module, toDescribed(descriptors)]));
}

async function describe(
  bytes: Uint8Array,
  modules: readonly string[],
  backend: Backend,
): Promise<[module: string, Descriptor][]> {
  const { pixels } = await decodeImage(bytes, { minSide: MIN_SIDE });
  const picture = preparePicture(pixels, sharedNetworks(backend));
  const descriptors: [string, Descriptor][] = [];
  for (const manifest of MODULES) {
    if (manifest.descriptor === undefined || !modules.includes(manifest.name)) continue;
    const module = await loadModule(manifest.name);
    const values = await module.analyze(picture);
    descriptors.push([manifest.name, values[manifest.descriptor.output] as Descriptor]);
  }
  return descriptors;
}

function toDescribed(descriptors: readonly Descriptor[]): Described {
  const [first] = descriptors as [Descriptor];
  return {
    model: first.model,
    vectors: toRows(
      descriptors.map(({ vector }) => roundToHalves(vector)),
      first.vector.length,
    ),
  };
}
