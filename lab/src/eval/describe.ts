import { roundToHalves } from '@akin/domain';
import { decodeImage, type Pixels } from '@akin/imaging';
import { MIN_SIDE, sharedNetworks } from '@akin/modules/internal/analyzer/analyze-image';
import { loadModule } from '@akin/modules/internal/analyzer/load-module';
import type { Descriptor, Module, ModuleValues } from '@akin/modules/internal/module';
import type { Backend } from '@akin/modules/internal/network/backend';
import { preparePicture } from '@akin/modules/internal/picture/picture';
import { MODULES } from '@akin/modules/manifests';
import type { PictureFile } from '../learn/picture-files.ts';
import { BASELINES } from './baselines.ts';

/** All measured data of one picture. */
export interface Described {
  readonly pixels: Pixels;
  /** Unit vectors by the name of the module or of the classic descriptor. */
  readonly vectors: Readonly<Record<string, Float32Array>>;
  /** Outputs of the modules, by name. */
  readonly values: ModuleValues;
}

export type DescribedPicture = PictureFile & Described;

/** Describes the bytes of an image by every module and every classic descriptor, in this thread. */
export type Describe = (bytes: Uint8Array) => Promise<Described>;

/** @throws {AkinError} as openFolderContent does, for a user's own content model. */
export async function openDescribe(backend: Backend, contentModel: string | undefined): Promise<Describe> {
  const analyses: [(typeof MODULES)[number], Module['analyze']][] = [];
  for (const manifest of MODULES) analyses.push([manifest, (await loadModule(manifest.name)).analyze]);
  if (contentModel !== undefined) {
    const { openFolderContent } = await import('@akin/modules/internal/model-folder/content');
    const own = await openFolderContent(contentModel);
    for (const one of analyses) if (one[0].name === 'content') one[1] = own;
  }
  return async (bytes) => {
    const { pixels } = await decodeImage(bytes, { minSide: MIN_SIDE });
    const pixelsOf = async (minSide: number) => (await decodeImage(bytes, { minSide })).pixels;
    const picture = preparePicture(pixels, sharedNetworks(backend), pixelsOf);
    const vectors: Record<string, Float32Array> = {};
    let values: ModuleValues = {};
    for (const [manifest, analyze] of analyses) {
      const said = await analyze(picture);
      values = { ...values, ...said };
      if (manifest.descriptor === undefined) continue;
      vectors[manifest.name] = roundToHalves((said[manifest.descriptor.output] as Descriptor).vector);
    }
    for (const [name, baseline] of Object.entries(BASELINES)) vectors[name] = baseline(pixels);
    return { pixels, vectors, values };
  };
}
