/** The edits that measure the search for parts of pictures: parts of them, pictures that contain them, and hard copies. */

import { createRandom } from '@akin/domain';
import { type Bitmap, bitmapOf, blank, glyphs, paste, toSharp } from './bitmap.ts';
import { between, collage, type Edit, jpeg, recolored } from './edits.ts';

type Random = () => number;

const WHITE = [255, 255, 255] as const;
const BLACK = [20, 20, 20] as const;

/** Cuts out these shares of the width and the height, `across` and `down` of the rest being left of and above it. */
function cut(picture: Bitmap, wide: number, high: number, across: number, down: number): Promise<Buffer> {
  const [width, height] = [Math.round(picture.width * wide), Math.round(picture.height * high)];
  const left = Math.floor(across * (picture.width - width));
  const top = Math.floor(down * (picture.height - height));
  return jpeg(toSharp(picture).extract({ left, top, width, height }));
}

function turned(degrees: number): Edit['make'] {
  return (picture, random) => {
    const background = random() < 0.5 ? '#000000' : '#FFFFFF';
    return jpeg(toSharp(picture).rotate(random() < 0.5 ? degrees : -degrees, { background }));
  };
}

/** Two lines of text on a plain ground over the lowest fifth. */
async function caption(picture: Bitmap, random: Random): Promise<Buffer> {
  const { width, height } = picture;
  const copy = { ...picture, data: Buffer.from(picture.data) };
  const [ground, ink] = random() < 0.5 ? [WHITE, BLACK] : [BLACK, WHITE];
  const high = Math.round(height / 5);
  paste(copy, blank(width, high, ground), 0, height - high);
  const dot = Math.max(1, Math.round(height / 140));
  for (const line of [0.15, 0.6]) {
    glyphs(copy, Math.round(0.1 * width), Math.round(height - high + line * high), 0.8 * width, dot, ink, random);
  }
  return jpeg(toSharp(copy));
}

/** A line of large white letters with black edges at the top, and one at the bottom. */
async function meme(picture: Bitmap, random: Random): Promise<Buffer> {
  const { width, height } = picture;
  const copy = { ...picture, data: Buffer.from(picture.data) };
  const dot = Math.max(1, Math.round(width / 130));
  const left = Math.round(0.1 * width);
  for (const y of [Math.round(0.03 * height), Math.round(0.97 * height) - 7 * dot]) {
    const seed = Math.floor(2 ** 31 * random());
    for (const [x, down] of [
      [-1, -1],
      [1, -1],
      [-1, 1],
      [1, 1],
    ] as const) {
      glyphs(copy, left + x, y + down, 0.8 * width, dot, BLACK, createRandom(seed));
    }
    glyphs(copy, left, y, 0.8 * width, dot, WHITE, createRandom(seed));
  }
  return jpeg(toSharp(copy));
}

/** The picture on a page of text, at 40 % of its width. */
async function page(picture: Bitmap, random: Random): Promise<Buffer> {
  const { width: w, height: h } = picture;
  const width = Math.round(2.5 * w);
  const height = Math.max(Math.round(1.6 * h), Math.round(0.62 * width));
  const [ground, ink] = random() < 0.75 ? [WHITE, BLACK] : [BLACK, WHITE];
  const whole = blank(width, height, ground);
  const [left, top] = [Math.round(width * between(random, 0.08, 0.38)), Math.round(0.2 * height)];
  const dot = Math.max(1, Math.round(width / 600));
  const line = 14 * dot;
  paste(whole, blank(width, Math.round(0.08 * height), [51, 68, 85]), 0, 0);
  glyphs(whole, line, Math.round(0.03 * height), 0.2 * width, dot, WHITE, random);
  glyphs(whole, left, Math.round(0.13 * height), 0.5 * width, 2 * dot, ink, random);
  paste(whole, picture, left, top);
  for (let y = top; y < top + h - line; y += line) {
    glyphs(whole, left + w + line, y, Math.min(0.25 * width, width - left - w - 2 * line), dot, [0, 102, 204], random);
  }
  for (let y = top + h + line; y < height - line; y += line) glyphs(whole, left, y, w, dot, ink, random);
  return jpeg(toSharp(whole));
}

async function half(picture: Bitmap): Promise<Buffer> {
  const size = { width: Math.ceil(picture.width / 2), height: Math.ceil(picture.height / 2) };
  return jpeg(toSharp(await bitmapOf(toSharp(picture).resize({ ...size, fit: 'fill' }))), 40);
}

export const COLLAGE = 'one of two side by side';

/** In the order of the report. */
export const PART_EDITS: readonly Edit[] = [
  { name: 'crop of 75 % of each side', make: (picture) => cut(picture, 0.75, 0.75, 0.5, 0.5) },
  {
    name: 'crop of 45 to 80 %, anywhere',
    make: (picture, random) => cut(picture, between(random, 0.45, 0.8), between(random, 0.45, 0.8), random(), random()),
  },
  { name: 'the middle 50 %', make: (picture) => cut(picture, 0.5, 0.5, 0.5, 0.5) },
  {
    name: 'a corner of 50 %',
    make: (picture, random) => cut(picture, 0.5, 0.5, Math.round(random()), Math.round(random())),
  },
  { name: 'turned by 8 degrees', make: turned(8) },
  { name: 'turned by 20 degrees', make: turned(20) },
  { name: 'caption over 20 %', make: caption },
  { name: 'text of a meme', make: meme },
  { name: COLLAGE, make: collage },
  { name: 'screenshot, 40 % of the width', make: page },
  { name: 'mirrored', make: (picture) => jpeg(toSharp(picture).flop()) },
  { name: 'other colours', make: recolored([60, 260], [0.6, 1.4]) },
  { name: 'half size, JPEG 40', make: half },
];
