import type { Collection, FoundDocument } from '@akin/client';
import { hasOriginal } from '../details/stage.ts';
import { setImageSource } from '../key.ts';
import type { Model } from '../model.ts';
import { toBase64 } from '../upload.ts';
import type { Query } from '../view-state.ts';
import { chooseRegion } from './choose-region.ts';
import { type Region, readRegion, regionText } from './region.ts';

/** Longest side of a cut-out that only shows what was searched for: it has to fit into the URL. */
const SHOWN_SIDE = 96;

/** @returns the query for the part; null if the user cancelled */
export async function partOfDocument(
  { collection, pageData }: Model,
  id: string,
  document: FoundDocument | undefined,
  before: string | undefined,
): Promise<Query | null> {
  const small = collection.thumbnailAddress(id);
  const show = (image: HTMLImageElement) => {
    if (document === undefined || !hasOriginal(document, pageData)) return void setImageSource(image, small);
    // Browsers do not support every format.
    image.addEventListener('error', () => void setImageSource(image, small), { once: true });
    void setImageSource(image, collection.originalAddress(id));
  };
  const region = await chooseRegion(show, readRegion(before ?? null));
  return region && { by: 'id', id, region: regionText(region) };
}

/** @returns the query for the part; null if the user cancelled */
export async function partOfAddress(
  { collection }: Model,
  { url, region: before }: Query & { by: 'url' },
): Promise<Query | null> {
  // akin downloads the picture; the user's browser does not.
  const file = await thumbnailOf(collection, { url });
  const region = await chooseInFile(file, readRegion(before ?? null));
  if (region === null) return null;
  const picture = await toBase64(await cutOut(file, region, SHOWN_SIDE));
  return { by: 'url', url, region: regionText(region), picture };
}

/** @returns a picture of the part; null if the user cancelled */
export async function partOfFile({ collection }: Model, file: Blob): Promise<Blob | null> {
  // Browsers do not support every format.
  const shown = (await isShown(file)) ? file : await thumbnailOf(collection, { data: await toBase64(file) });
  const region = await chooseInFile(shown);
  return region && cutOut(shown, region);
}

const isShown = (file: Blob) =>
  createImageBitmap(file).then(
    (picture) => picture.close() ?? true,
    () => false,
  );

async function thumbnailOf(collection: Collection, picture: { url: string } | { data: string }): Promise<Blob> {
  const { thumbnail = '' } = await collection.analyze(picture, { 'modules.apply': 'color', thumbnail: true });
  return new Blob([Uint8Array.from(atob(thumbnail), (one) => one.charCodeAt(0))]);
}

async function chooseInFile(file: Blob, before?: Region): Promise<Region | null> {
  const address = URL.createObjectURL(file);
  const show = (image: HTMLImageElement) => {
    image.src = address;
  };
  const region = await chooseRegion(show, before);
  URL.revokeObjectURL(address);
  return region;
}

/** @param longestSide a larger part becomes a small JPEG; undefined: a PNG of all its pixels */
async function cutOut(file: Blob, { x, y, w, h }: Region, longestSide?: number): Promise<Blob> {
  const picture = await createImageBitmap(file);
  const sizes = [w * picture.width, h * picture.height] as const;
  const scale = longestSide === undefined ? 1 : Math.min(1, longestSide / Math.max(...sizes));
  const [width, height] = sizes.map((size) => Math.max(1, Math.round(size * scale))) as [number, number];
  const canvas = new OffscreenCanvas(width, height);
  canvas
    .getContext('2d')
    ?.drawImage(picture, x * picture.width, y * picture.height, sizes[0], sizes[1], 0, 0, width, height);
  return canvas.convertToBlob(longestSide === undefined ? { type: 'image/png' } : { type: 'image/jpeg', quality: 0.7 });
}
