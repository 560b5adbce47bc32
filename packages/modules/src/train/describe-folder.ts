import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeImage } from '@akin/imaging';
import { MIN_SIDE, sharedNetwork } from '../analyzer/analyze-image.ts';
import { roundToHalves } from '../half.ts';
import { loadModule } from '../load-module.ts';
import { MODULES } from '../manifests.ts';
import type { Descriptor } from '../module.ts';
import { preparePicture } from '../picture.ts';
import { type Rows, toRows } from './linear.ts';

export interface Described {
  readonly model: string;
  readonly vectors: Rows;
}

/**
 * The descriptors of every picture in a folder and those below, by module, in the order of their paths. Files that are
 * no pictures are told to `skip` and left out.
 */
export async function describeFolder(
  folder: string,
  progress: (done: number, all: number) => void,
  skip: (file: string, why: string) => void,
): Promise<Map<string, Described>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const found = new Map<string, Descriptor[]>();
  for (const [i, file] of files.entries()) {
    try {
      for (const [module, descriptor] of await describe(await readFile(file))) {
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

async function describe(bytes: Uint8Array): Promise<[module: string, Descriptor][]> {
  const { pixels } = await decodeImage(bytes, { minSide: MIN_SIDE });
  const picture = preparePicture(pixels, () => sharedNetwork('wasm'));
  const descriptors: [string, Descriptor][] = [];
  for (const manifest of MODULES) {
    if (manifest.descriptor === undefined) continue;
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
