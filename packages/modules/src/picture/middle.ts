import { cropPixels, type Pixels } from '@akin/imaging';

/** The ratio of the sides of the middle is that of the picture to this power: 0 cuts a square, 1 cuts nothing. */
const ASPECT_POWER = 0.5;

/** Part of the model's name, because another rule changes the descriptors. */
export const MIDDLE_RULE = JSON.stringify({ aspectPower: ASPECT_POWER });

/**
 * The middle of a picture for a network that sees squares. A wide or tall picture loses some of its ends, so that the
 * things in its middle are less distorted.
 */
export function middleOf(pixels: Pixels): Pixels {
  const { width, height } = pixels;
  const [long, short] = [Math.max(width, height), Math.min(width, height)];
  const kept = Math.round(short * (long / short) ** ASPECT_POWER);
  if (kept === long) return pixels;
  const start = Math.floor((long - kept) / 2);
  return width > height
    ? cropPixels(pixels, { left: start, top: 0, width: kept, height })
    : cropPixels(pixels, { left: 0, top: start, width, height: kept });
}
