import { openTiff, readNumbers, readPages } from './tiff.ts';

const TAG = { kind: 254, width: 256, height: 257 };
/** A first page up to this length of the long side is a thumbnail if another page has four times its pixels. */
const THUMBNAIL_SIDE = 512;

/**
 * The page of a TIFF that is decoded: the first one, or the largest one if the first one is a thumbnail, because it
 * says so or is small.
 */
export function mainPage(bytes: Uint8Array): number {
  const tiff = openTiff(bytes);
  if (tiff === undefined) return 0;
  const pages = readPages(tiff).map((tags) => {
    const [kind = 0, width = 0, height = 0] = [TAG.kind, TAG.width, TAG.height].map(
      (tag) => readNumbers(tiff, tags.get(tag), 1)[0],
    );
    return { isReduced: kind % 2 === 1, side: Math.max(width, height), pixels: width * height };
  });
  const [first] = pages;
  if (first === undefined) return 0;
  const largest = pages.reduce((best, page, i) => (page.pixels > (pages[best]?.pixels ?? 0) ? i : best), 0);
  const isSmall = first.side <= THUMBNAIL_SIDE && (pages[largest]?.pixels ?? 0) >= 4 * first.pixels;
  return first.isReduced || isSmall ? largest : 0;
}
