import sharp from 'sharp';

/** Formats whose decoders need very different amounts of memory. */
const LARGE_IMAGES = ['jpeg', 'progressive-jpeg', 'png-16', 'interlaced-png-16', 'webp', 'gif', 'avif'] as const;
type LargeImage = (typeof LARGE_IMAGES)[number];

/** Draws a square picture of smooth colours, with a little noise for formats whose file then stays below 25 MB. */
export async function drawLargeImage(kind: LargeImage, side: number): Promise<Buffer> {
  const noisy = kind.endsWith('jpeg') || kind === 'webp';
  const pixels = Buffer.alloc(side * side * 3);
  let state = 1;
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const noise = noisy ? state >>> 27 : 0;
      const at = (y * side + x) * 3;
      pixels[at] = (noisy ? (x * 200) / side : x >> 5) + noise;
      pixels[at + 1] = (noisy ? (y * 200) / side : y >> 5) + noise;
      pixels[at + 2] = (noisy ? ((x + y) * 100) / side : (x + y) >> 6) + noise;
    }
  }
  const image = sharp(pixels, { raw: { width: side, height: side, channels: 3 }, limitInputPixels: false });
  switch (kind) {
    case 'jpeg':
      return image.jpeg().toBuffer();
    case 'progressive-jpeg':
      return image.jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer();
    case 'png-16':
      return image.toColourspace('rgb16').png().toBuffer();
    case 'interlaced-png-16':
      return image.ensureAlpha(0.5).toColourspace('rgb16').png({ progressive: true }).toBuffer();
    case 'webp':
      return image.webp({ quality: 60, effort: 0 }).toBuffer();
    case 'gif':
      return image.gif({ effort: 1, colours: 32 }).toBuffer();
    case 'avif':
      return image.avif({ effort: 0, quality: 40 }).toBuffer();
  }
}
