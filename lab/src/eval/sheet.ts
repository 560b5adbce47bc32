import sharp from 'sharp';
import type { Bitmap } from './bitmap.ts';
import { toSharp } from './bitmap.ts';

const SIDE = 112;
const GAP = 4;

/** Writes a contact sheet as PNG; the pictures of a row belong together. */
export async function writeSheet(file: string, rows: readonly (readonly Bitmap[])[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = Math.max(...rows.map((row) => row.length));
  const tiles = await Promise.all(
    rows.flatMap((row, y) =>
      row.map(async (picture, x) => ({
        input: await toSharp(picture)
          .resize({ width: SIDE, height: SIDE, fit: 'contain', background: '#303030' })
          .png()
          .toBuffer(),
        left: GAP + x * (SIDE + GAP),
        top: GAP + y * (SIDE + GAP),
      })),
    ),
  );
  const width = GAP + columns * (SIDE + GAP);
  const height = GAP + rows.length * (SIDE + GAP);
  await sharp({ create: { width, height, channels: 3, background: '#303030' } })
    .composite(tiles)
    .png()
    .toFile(file);
}
