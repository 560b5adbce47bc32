import type { Pixels } from '@akin/imaging';
import { angleOf } from '../angle.ts';

/** Sectors of the colour circle, and a last number for what is grey. */
const SECTORS = 15;
export const HUE_NUMBERS = SECTORS + 1;
/** Chroma (of 0…0.6 or so) from which on a pixel counts wholly as coloured. */
const FULL_CHROMA = 0.2;

/**
 * Histogram of the hues of a picture, weighted by chroma: a unit vector of square roots of shares, with a last number for
 * grey. A weak part of the descriptor of copies: it separates two colours of one article, and still finds a copy whose
 * colours were changed.
 */
export function hueHistogramOf({ data }: Pixels): Float64Array {
  const shares = new Float64Array(HUE_NUMBERS);
  const pixels = data.length / 3;
  for (let at = 0; at < data.length; at += 3) {
    const red = (data[at] as number) / 255;
    const blue = (data[at + 2] as number) / 255;
    const light = 0.299 * red + 0.587 * ((data[at + 1] as number) / 255) + 0.114 * blue;
    const cb = 0.564 * (blue - light);
    const cr = 0.713 * (red - light);
    const colored = Math.min(1, Math.sqrt(cb * cb + cr * cr) / FULL_CHROMA);
    if (colored === 0) continue;
    // A hue between the middles of two sectors counts for both.
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
  // Shares of one whole, so the roots have length 1.
  return shares.map((share) => Math.sqrt(share / pixels));
}
