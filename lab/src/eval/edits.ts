/** The edits that measure copy detection: typical changes of pictures by people and programs. */

import { createRandom } from '@akin/domain';
import type { Sharp } from 'sharp';
import { type Bitmap, bitmapOf, blank, glyphs, paste, region, toSharp } from './bitmap.ts';

export interface Edit {
  readonly name: string;
  /** Creates the edit as the bytes of an image file. `other` is a second picture, for edits that combine two. */
  readonly make: (picture: Bitmap, random: () => number, other: Bitmap) => Promise<Buffer>;
}

type Random = () => number;

export const jpeg = (image: Sharp, quality = 85) => image.jpeg({ quality }).toBuffer();
export const between = (random: Random, least: number, most: number) => least + (most - least) * random();
const channel = (random: Random) => Math.floor(256 * random());

/** Crops a share of each side, at a random position. */
function crop(share: number): Edit['make'] {
  return (picture, random) => {
    const width = Math.max(1, Math.round(picture.width * (1 - share)));
    const height = Math.max(1, Math.round(picture.height * (1 - share)));
    const left = Math.floor(random() * (picture.width - width + 1));
    const top = Math.floor(random() * (picture.height - height + 1));
    return jpeg(toSharp(picture).extract({ left, top, width, height }));
  };
}

/** Maximum side: JPEG allows 65,535, and a very long picture would exceed that. */
const LONGEST = 16_000;

function shortSide(pixels: number): Edit['make'] {
  return (picture) => {
    const { width: w, height: h } = picture;
    const scale = Math.min(pixels / Math.min(w, h), LONGEST / Math.max(w, h));
    const width = Math.max(1, Math.round(picture.width * scale));
    const height = Math.max(1, Math.round(picture.height * scale));
    return jpeg(toSharp(picture).resize({ width, height, fit: 'fill' }));
  };
}

/** Adds a frame of one colour. */
async function border(picture: Bitmap, random: Random): Promise<Buffer> {
  const side = Math.round(between(random, 0.04, 0.1) * Math.min(picture.width, picture.height));
  const background = { r: channel(random), g: channel(random), b: channel(random) };
  return jpeg(toSharp(picture).extend({ top: side, bottom: side, left: side, right: side, background }));
}

/** Black or white bars that make the picture square, or 16:9 if it is square already. */
async function letterbox(picture: Bitmap, random: Random): Promise<Buffer> {
  const { width, height } = picture;
  const aspect = Math.abs(Math.log(width / height)) < 0.1 ? 16 / 9 : 1;
  const wide = Math.max(width, Math.round(height * aspect));
  const high = Math.max(height, Math.round(width / aspect));
  const ground = blank(wide, high, random() < 0.7 ? [0, 0, 0] : [255, 255, 255]);
  paste(ground, picture, (wide - width) >> 1, (high - height) >> 1);
  return jpeg(toSharp(ground));
}

/** Two lines of large letters over the lower or upper part. */
async function text(picture: Bitmap, random: Random): Promise<Buffer> {
  const copy = { ...picture, data: Buffer.from(picture.data) };
  const size = Math.max(1, Math.round(picture.height / 70));
  const color: [number, number, number] = random() < 0.5 ? [255, 255, 255] : [0, 0, 0];
  const top = random() < 0.5 ? 0.04 : 0.76;
  for (let line = 0; line < 2; line++) {
    const y = Math.round((top + 0.12 * line) * picture.height);
    glyphs(copy, Math.round(0.06 * picture.width), y, Math.round(0.88 * picture.width), size, color, random);
  }
  return jpeg(toSharp(copy));
}

/** A round badge in a corner, a fifth of the short side. */
async function logo(picture: Bitmap, random: Random): Promise<Buffer> {
  const copy = { ...picture, data: Buffer.from(picture.data) };
  const radius = Math.max(2, Math.round(0.11 * Math.min(picture.width, picture.height)));
  const margin = Math.round(1.3 * radius);
  const centerX = random() < 0.5 ? margin : picture.width - margin;
  const centerY = random() < 0.5 ? margin : picture.height - margin;
  const color = [channel(random), channel(random), channel(random)];
  for (let y = 0; y < copy.height; y++) {
    for (let x = 0; x < copy.width; x++) {
      const far = Math.hypot(x - centerX, y - centerY);
      if (far > radius) continue;
      for (let c = 0; c < 3; c++) copy.data[3 * (y * copy.width + x) + c] = far > 0.75 * radius ? 255 : (color[c] ?? 0);
    }
  }
  return jpeg(toSharp(copy));
}

/** The picture on a page: a bar with a title above, some lines of text below, plain margins. */
async function screenshot(picture: Bitmap, random: Random): Promise<Buffer> {
  const { width, height } = picture;
  const side = Math.round(0.06 * width);
  const bar = Math.round(0.12 * height);
  const foot = Math.round(0.18 * height);
  const dark = random() < 0.4;
  const page = blank(width + 2 * side, height + bar + foot, dark ? [24, 26, 30] : [250, 250, 252]);
  const ink: [number, number, number] = dark ? [220, 220, 225] : [40, 40, 50];
  paste(page, blank(page.width, Math.round(0.7 * bar), dark ? [45, 48, 60] : [225, 228, 235]), 0, 0);
  paste(page, picture, side, bar);
  const size = Math.max(1, Math.round(height / 120));
  glyphs(page, side, Math.round(0.2 * bar), Math.round(0.4 * width), size, ink, random);
  for (const line of [0.25, 0.6]) {
    glyphs(page, side, Math.round(bar + height + line * foot), Math.round(0.9 * width), size, ink, random);
  }
  return toSharp(page).png().toBuffer();
}

async function noise(picture: Bitmap, random: Random): Promise<Buffer> {
  const data = Buffer.from(picture.data);
  for (let i = 0; i < data.length; i++) {
    // The sum of three uniform numbers is close enough to a normal distribution, with standard deviation 16.
    const shift = 32 * (random() + random() + random() - 1.5);
    data[i] = Math.max(0, Math.min(255, Math.round((data[i] as number) + shift)));
  }
  return jpeg(toSharp({ ...picture, data }));
}

/** Applies a curve to each channel, with a table. */
function tone(curve: (value: number, channel: number, strength: number) => number): Edit['make'] {
  return (picture, random) => {
    const strength = random();
    const data = Buffer.from(picture.data);
    for (let i = 0; i < data.length; i++) {
      data[i] = Math.max(0, Math.min(255, Math.round(255 * curve((data[i] as number) / 255, i % 3, strength))));
    }
    return jpeg(toSharp({ ...picture, data }));
  };
}

/**
 * @param degrees by which hues are turned
 * @param saturation by which it is multiplied
 */
export function recolored(degrees: [least: number, most: number], saturation: [least: number, most: number]) {
  return (picture: Bitmap, random: Random): Promise<Buffer> => {
    const hue = Math.round(between(random, ...degrees));
    return jpeg(toSharp(picture).modulate({ hue, saturation: between(random, ...saturation) }));
  };
}

/** Side by side with another picture of the same height. */
export async function collage(picture: Bitmap, random: Random, other: Bitmap): Promise<Buffer> {
  const { data, info } = await toSharp(other)
    .resize({ width: picture.width, height: picture.height, fit: 'cover' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const both = blank(2 * picture.width, picture.height, [255, 255, 255]);
  const left = random() < 0.5;
  paste(both, picture, left ? 0 : picture.width, 0);
  paste(both, { width: info.width, height: info.height, data }, left ? picture.width : 0, 0);
  return jpeg(toSharp(both));
}

/** Rotates by a few degrees; the corners are filled or cropped. */
async function tilt(picture: Bitmap, random: Random): Promise<Buffer> {
  const angle = between(random, 2, 6) * (random() < 0.5 ? -1 : 1);
  const turned = await bitmapOf(toSharp(picture).rotate(angle, { background: '#FFFFFF' }));
  if (random() < 0.5) return jpeg(toSharp(turned));
  return jpeg(toSharp(region(turned, 0.12)));
}

const warm = [0.08, 0, -0.08];

/** In the order of the report. */
export const EDITS: readonly Edit[] = [
  { name: 'JPEG quality 30', make: (picture) => jpeg(toSharp(picture), 30) },
  { name: 'WebP quality 40', make: (picture) => toSharp(picture).webp({ quality: 40 }).toBuffer() },
  { name: 'GIF of 64 colours', make: (picture) => toSharp(picture).gif({ colours: 64 }).toBuffer() },
  { name: 'scaled to 64 px', make: shortSide(64) },
  { name: 'scaled to 128 px', make: shortSide(128) },
  { name: 'crop of 10 %', make: crop(0.1) },
  { name: 'crop of 25 %', make: crop(0.25) },
  { name: 'crop of 50 %', make: crop(0.5) },
  { name: 'border', make: border },
  { name: 'letterbox', make: letterbox },
  { name: 'text over it', make: text },
  { name: 'logo over it', make: logo },
  { name: 'screenshot', make: screenshot },
  { name: 'flip, left to right', make: (picture) => jpeg(toSharp(picture).flop()) },
  { name: 'flip, top to bottom', make: (picture) => jpeg(toSharp(picture).flip()) },
  { name: 'quarter turn', make: (picture, random) => jpeg(toSharp(picture).rotate(random() < 0.5 ? 90 : 270)) },
  { name: 'half turn', make: (picture) => jpeg(toSharp(picture).rotate(180)) },
  { name: 'tilt of 2 to 6 degrees', make: tilt },
  {
    name: 'blur',
    make: (picture) => jpeg(toSharp(picture).blur(0.3 + 0.008 * Math.min(picture.width, picture.height))),
  },
  { name: 'noise', make: noise },
  { name: 'grey', make: (picture) => jpeg(toSharp(picture).greyscale()) },
  {
    name: 'other hue and saturation',
    make: recolored([20, 50], [0.5, 1.6]),
  },
  { name: 'warmer or colder', make: tone((v, c, s) => v + (s < 0.5 ? 1 : -1) * (warm[c] as number)) },
  { name: 'brighter or darker', make: tone((v, _, s) => v * (s < 0.5 ? 0.65 + 0.3 * s : 1 + 0.4 * s)) },
  { name: 'more contrast', make: tone((v, _, s) => 0.5 + (v - 0.5) * (1.2 + 0.4 * s)) },
  { name: 'gamma', make: tone((v, _, s) => v ** (s < 0.5 ? 0.55 + 0.3 * s : 1.2 + 0.6 * s)) },
  { name: 'collage of two', make: collage },
];

/** Edits of a picture. The same picture and seed give the same bytes. */
export async function makeEdits(picture: Bitmap, other: Bitmap, seed: number, edits = EDITS): Promise<Buffer[]> {
  const random = createRandom(seed);
  const edited: Buffer[] = [];
  for (const { make } of edits) edited.push(await make(picture, random, other));
  return edited;
}
