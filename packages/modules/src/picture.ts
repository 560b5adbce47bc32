import { type Pixels, resizeArea } from '@akin/imaging';
import type { Features, Network } from './network/network.ts';

/** One picture under analysis. What several modules need is made once, and only when one of them asks for it. */
export interface Picture {
  /** Upright, on white; large pictures come shrunk, but with a short side of at least 256. */
  readonly pixels: Pixels;
  /** The whole picture squashed to a square of {@link SQUARE} pixels a side: what the network is shown, too. */
  square(): Pixels;
  /** What the network sees in it. The first call in a thread loads the network, the first for a picture runs it. */
  features(): Promise<Features>;
}

/** Side of the square version. */
export const SQUARE = 128;

/** Gets the network of this thread ready and hands it out. */
export type OpenNetwork = () => Promise<Network>;

export function preparePicture(pixels: Pixels, openNetwork: OpenNetwork): Picture {
  let features: Promise<Features> | undefined;
  let square: Pixels | undefined;
  const squash = () => {
    square ??= resizeArea(pixels, SQUARE, SQUARE);
    return square;
  };
  return {
    pixels,
    square: squash,
    features() {
      features ??= openNetwork().then(async (network) => {
        const isSquare = network.width === SQUARE && network.height === SQUARE;
        const [features] = await network.run([isSquare ? squash() : resizeArea(pixels, network.width, network.height)]);
        return features as Features;
      });
      return features;
    },
  };
}
