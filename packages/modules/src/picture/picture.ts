import { type Pixels, resizeArea } from '@akin/imaging';
import { MODEL_FOLDER } from '../network/model.ts';
import type { Features, Network } from '../network/network.ts';
import { contentCrops as cropsOf } from './content-crop.ts';
import { middleOf } from './middle.ts';

/** One picture that is being analyzed. Data that several modules need is computed once, at its first use. */
export interface Picture {
  /** Upright, on white. Large pictures are reduced, but the short side is at least 256. */
  readonly pixels: Pixels;
  /**
   * As `pixels`, with a short side of at least `side` pixels if the file has them, for models that resize with their
   * own kernel. May decode the file again.
   */
  pixelsOf(side: number): Promise<Pixels>;
  /** The whole picture resized to a square of {@link SQUARE} pixels a side. */
  square(): Pixels;
  /**
   * The content crop, resized to a square of {@link CROP_SIDE} pixels a side, which is also the input of the
   * copy-detection network. Plain borders are removed, and of two pictures in one the main one is taken. Two crops if
   * the background is ambiguous.
   */
  contentCrops(): readonly Pixels[];
  /**
   * The features of the main network, which sees the middle of the picture. It is loaded at the first call in a thread,
   * and run at the first call for a picture.
   */
  features(): Promise<Features>;
  /** Whether the picture is searched for: then more of its points are found than are stored. */
  readonly isSought?: boolean;
  readonly network: OpenNetwork;
}

export const SQUARE = 128;
export const CROP_SIDE = 64;

/** Returns the network of a folder. It is loaded at the first call in a thread. */
export type OpenNetwork = (folder: URL) => Promise<Network>;

export function preparePicture(
  pixels: Pixels,
  network: OpenNetwork,
  pixelsOf: (side: number) => Promise<Pixels> = async () => pixels,
): Picture {
  let features: Promise<Features> | undefined;
  let square: Pixels | undefined;
  let crops: readonly Pixels[] | undefined;
  const squash = () => {
    square ??= resizeArea(pixels, SQUARE, SQUARE);
    return square;
  };
  // If nothing was cropped, reduce the square: its means are the same except for rounding, and it has fewer pixels.
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
      features ??= network(MODEL_FOLDER).then(async ({ width, height, run }) => {
        const middle = middleOf(pixels);
        const isSquare = middle === pixels && width === SQUARE && height === SQUARE;
        const [found] = await run([isSquare ? squash() : resizeArea(middle, width, height)]);
        return found as Features;
      });
      return features;
    },
    network,
  };
}
