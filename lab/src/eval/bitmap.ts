/**
 * Pictures as pixels, and simple drawing functions for edits and contact sheets. They use no fonts, because some
 * machines have none.
 */
import sharp, { type Sharp } from 'sharp';

/** RGB, 3 bytes a pixel, rows from top to bottom. */
export interface Bitmap {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

type Rgb = readonly [red: number, green: number, blue: number];

export function toSharp({ width, height, data }: Bitmap): Sharp {
  return sharp(data, { raw: { width, height, channels: 3 } });
}

export async function bitmapOf(image: Sharp): Promise<Bitmap> {
  const { data, info } = await image
    .flatten({ background: '#FFFFFF' })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

/** Decodes an image file, upright; a longer long side is reduced to `longSide`. */
export function readBitmap(bytes: Uint8Array, longSide: number): Promise<Bitmap> {
  return bitmapOf(
    sharp(bytes).rotate().resize({ width: longSide, height: longSide, fit: 'inside', withoutEnlargement: true }),
  );
}

export function blank(width: number, height: number, color: Rgb): Bitmap {
  const data = Buffer.alloc(3 * width * height);
  for (let i = 0; i < data.length; i += 3) data.set(color, i);
  return { width, height, data };
}

/** Copies `picture` into `ground`; parts outside of it are cropped. */
export function paste(ground: Bitmap, picture: Bitmap, left: number, top: number): void {
  const width = Math.min(picture.width, ground.width - left);
  const height = Math.min(picture.height, ground.height - top);
  for (let y = 0; y < height; y++) {
    const from = 3 * y * picture.width;
    ground.data.set(picture.data.subarray(from, from + 3 * width), 3 * ((top + y) * ground.width + left));
  }
}

/** The centre of a picture, without a share of each side. */
export function region(picture: Bitmap, share: number): Bitmap {
  const left = Math.floor((picture.width * share) / 2);
  const top = Math.floor((picture.height * share) / 2);
  const width = Math.max(1, picture.width - 2 * left);
  const height = Math.max(1, picture.height - 2 * top);
  const part = blank(width, height, [0, 0, 0]);
  for (let y = 0; y < height; y++) {
    const from = 3 * ((top + y) * picture.width + left);
    part.data.set(picture.data.subarray(from, from + 3 * width), 3 * y * width);
  }
  return part;
}

/** One line of made-up letters of 5 x 7 dots; each dot is `size` pixels wide. */
export function glyphs(
  ground: Bitmap,
  left: number,
  top: number,
  width: number,
  size: number,
  color: Rgb,
  random: () => number,
): void {
  const dot = blank(size, size, color);
  for (let x = left; x + 5 * size <= left + width; x += 6 * size) {
    if (random() < 0.15) continue;
    for (let row = 0; row < 7; row++) {
      for (let column = 0; column < 5; column++) {
        const edge = column === 0 || row % 3 === 0;
        if (random() < (edge ? 0.8 : 0.15)) {
          const dotX = x + column * size;
          const dotY = top + row * size;
          if (dotX + size <= ground.width && dotY + size <= ground.height) paste(ground, dot, dotX, dotY);
        }
      }
    }
  }
}
