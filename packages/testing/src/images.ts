import sharp from 'sharp';

/** Parameters of {@link drawImage}; everything except the size has a default. */
interface Drawing {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Different seeds give different pictures; the same seed gives the same bytes. */
  readonly seed?: number;
  readonly type?: 'jpeg' | 'png' | 'webp';
}

/**
 * Draws a small picture: shapes of a few colours on a plain background. It sets pixels instead of using SVG, because
 * libvips no longer reads SVG in a process that has already decoded an image of a user, as a jest worker may have.
 */
export async function drawImage({ width, height, seed = 1, type = 'jpeg' }: Drawing): Promise<Buffer> {
  const random = randomNumbers(seed);
  const color = () => [random(), random(), random()].map((share) => Math.floor(40 + share * 190));
  const pixels = Buffer.alloc(width * height * 3);
  const fill = (rgb: number[], covers: (x: number, y: number) => boolean) => {
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) if (covers(x, y)) pixels.set(rgb, (y * width + x) * 3);
    }
  };
  fill(color(), () => true);
  for (let shape = 0; shape < 6; shape++) {
    const [left, top, size] = [random() * width, random() * height, (0.1 + random() * 0.25) * Math.min(width, height)];
    const isCircle = random() < 0.5;
    fill(color(), (x, y) =>
      isCircle
        ? (x - left) ** 2 + (y - top) ** 2 <= size ** 2
        : x >= left && x < left + size * 1.5 && y >= top && y < top + size,
    );
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .toFormat(type)
    .toBuffer();
}

/** A random number generator in [0, 1) with a seed (mulberry32, Tommy Ettinger, public domain). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
