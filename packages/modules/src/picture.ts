import { type Pixels, resizeArea } from '@akin/imaging';
import { contentCrops as cropsOf } from './content-crop.ts';
import { MODEL_FOLDER } from './network/model.ts';
import type { Features, Network } from './network/network.ts';

/** One picture under analysis. What several modules need is made once, and only when one of them asks for it. */
export interface Picture {
  /** Upright, on white; large pictures come shrunk, but with a short side of at least 256. */
  readonly pixels: Pixels;
  /**
   * The same, with a short side of at least so many pixels where the file has them: for models that shrink by a kernel
   * of their own. May decode the file again.
   */
  pixelsOf(side: number): Promise<Pixels>;
  /** The whole picture squashed to a square of {@link SQUARE} pixels a side: what the main network is shown, too. */
  square(): Pixels;
  /**
   * What is left without what is plain around it, and of two pictures in one the main one, squashed to a square of
   * {@link CROP_SIDE} pixels a side: what the copy-detection network is shown, too. Two if the background is ambiguous.
   */
  contentCrops(): readonly Pixels[];
  /** What the main network sees in it. The first call in a thread loads it, the first for a picture runs it. */
  features(): Promise<Features<'content'>>;
  /** For a module with a network of its own. */
  readonly network: OpenNetwork;
}

/** Side of the square version. */
export const SQUARE = 128;
/** Side of the content crop: what the copy-detection network is shown. */
export const CROP_SIDE = 64;

/**
 * Gives the network of a folder with the heads that are read: no others are computed. The first call for it in a thread
 * loads it.
 */
export type OpenNetwork = <Head extends string>(folder: URL, heads: readonly Head[]) => Promise<Network<Head>>;

export function preparePicture(
  pixels: Pixels,
  network: OpenNetwork,
  pixelsOf: (side: number) => Promise<Pixels> = async () => pixels,
): Picture {
  let features: Promise<Features<'content'>> | undefined;
  let square: Pixels | undefined;
  let crops: readonly Pixels[] | undefined;
  const squash = () => {
    square ??= resizeArea(pixels, SQUARE, SQUARE);
    return square;
  };
  // Where nothing is cut off the square will do: its means are the same, but for rounding, and it has fewer pixels.
  const shrink = (inner: Pixels) => resizeArea(inner === pixels ? squash() : inner, CROP_SIDE, CROP_SIDE);
  return {
    pixels,
    pixelsOf,
    square: squash,
    contentCrops() {
      crops ??= cropsOf(pixels, squash()).map(shrink);
      return crops;
    },
    features() {
      features ??= network(MODEL_FOLDER, ['content']).then(async ({ width, height, run }) => {
        const isSquare = width === SQUARE && height === SQUARE;
        const [features] = await run([isSquare ? squash() : resizeArea(pixels, width, height)]);
        return features as Features<'content'>;
      });
      return features;
    },
    network,
  };
}
