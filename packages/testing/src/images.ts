import sharp from 'sharp';

/** What {@link drawImage} draws; everything but the size has a default. */
export interface Drawing {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Another number is another picture; the same number is the same bytes. */
  readonly seed?: number;
  readonly type?: 'jpeg' | 'png' | 'webp';
}

/** Draws a small picture: shapes of a few colours on a ground of one colour. */
export async function drawImage({ width, height, seed = 1, type = 'jpeg' }: Drawing): Promise<Buffer> {
  const random = randomNumbers(seed);
  const color = () => `hsl(${Math.floor(random() * 360)}, 70%, ${Math.floor(30 + random() * 40)}%)`;
  const shapes = Array.from({ length: 6 }, () => {
    const [x, y, size] = [random() * width, random() * height, (0.1 + random() * 0.25) * Math.min(width, height)];
    return random() < 0.5
      ? `<circle cx="${x}" cy="${y}" r="${size}" fill="${color()}"/>`
      : `<rect x="${x}" y="${y}" width="${size * 1.5}" height="${size}" fill="${color()}"/>`;
  });
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <rect width="100%" height="100%" fill="${color()}"/>${shapes.join('')}</svg>`;
  return sharp(Buffer.from(drawing)).toFormat(type).toBuffer();
}

/** Numbers in [0, 1) that depend on the seed alone (mulberry32, Tommy Ettinger, public domain). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
