import { decodeImage, type Pixels } from '@akin/imaging';
import { MIN_SIDE, sharedNetwork } from '../analyzer/analyze-image.ts';
import { roundToHalves } from '../half.ts';
import { loadModule } from '../load-module.ts';
import { MODULES } from '../manifests.ts';
import type { Descriptor, ModuleValues } from '../module.ts';
import type { Backend } from '../network/backend.ts';
import { preparePicture } from '../picture.ts';
import { PEERS } from './peers.ts';

/** All that is measured of one picture. */
export interface Described {
  readonly pixels: Pixels;
  /** Unit vectors by the name of the module or peer. */
  readonly vectors: Readonly<Record<string, Float32Array>>;
  /** What the modules say, by the name of the output. */
  readonly values: ModuleValues;
}

/** Describes the bytes of an image by every module and every peer, in this thread. */
export async function describe(bytes: Uint8Array, backend: Backend = 'wasm'): Promise<Described> {
  const { pixels } = await decodeImage(bytes, { minSide: MIN_SIDE });
  const picture = preparePicture(pixels, () => sharedNetwork(backend));
  const vectors: Record<string, Float32Array> = {};
  let values: ModuleValues = {};
  for (const manifest of MODULES) {
    const module = await loadModule(manifest.name);
    const said = await module.analyze(picture);
    values = { ...values, ...said };
    if (manifest.descriptor === undefined) continue;
    vectors[manifest.name] = roundToHalves((said[manifest.descriptor.output] as Descriptor).vector);
  }
  for (const [name, peer] of Object.entries(PEERS)) vectors[name] = peer(pixels);
  return { pixels, vectors, values };
}
