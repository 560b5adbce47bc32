import type { Pixels } from '@akin/imaging';
import { angleOf } from '../picture/angle.ts';

/** Sectors of the colour circle, followed by one number for gray. */
const SECTORS = 15;
export const HUE_DIMENSIONS = SECTORS + 1;
/** Minimum chroma (of about 0…0.6) of a pixel that counts fully as coloured. */
const FULL_CHROMA = 0.2;

/**
 * Histogram of the hues of a picture, weighted by chroma: a unit vector of square roots of shares, with a last number
 * for gray. A minor part of the descriptor of copies: it separates two colours of the same article, but a copy with
 * changed colours is still found.
 */
export function hueHistogramOf({ data }: Pixels): Float64Array {
  const shares = new Float64Array(HUE_DIMENSIONS);
  const pixels = data.length / 3;
  for (let at = 0; at < data.length; at += 3) {
    const red = (data[at] as number) / 255;
    const blue = (data[at + 2] as number) / 255;
    const light = 0.299 * red + 0.587 * ((data[at + 1] as number) / 255) + 0.114 * blue;
    const cb = 0.564 * (blue - light);
    const cr = 0.713 * (red - light);
    const colored = Math.min(1, Math.sqrt(cb * cb + cr * cr) / FULL_CHROMA);
    if (colored === 0) continue;
    // A hue is divided between the two nearest sectors.
    let turn = angleOf(cr, cb) * (SECTORS / (2 * Math.PI));
    if (turn < 0) turn += SECTORS;
    if (turn >= SECTORS) turn -= SECTORS;
    const sector = Math.floor(turn);
    const above = turn - sector;
    const next = sector + 1 === SECTORS ? 0 : sector + 1;
    shares[sector] = (shares[sector] as number) + colored * (1 - above);
    shares[next] = (shares[next] as number) + colored * above;
  }
  const all = shares.reduce((sum, share) => sum + share, 0);
  shares[SECTORS] = Math.max(0, pixels - all);
  // The shares sum to 1, so their square roots have length 1.
  return shares.map((share) => Math.sqrt(share / pixels));
}
