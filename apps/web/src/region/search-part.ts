import type { FoundDocument } from '@akin/client';
import { hasOriginal } from '../details/stage.ts';
import { setImageSource } from '../key.ts';
import type { Model } from '../model.ts';
import type { Query } from '../view-state.ts';
import { chooseRegion } from './choose-region.ts';
import { type Region, readRegion, regionText } from './region.ts';

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

/** @returns a picture of the part; null if the user cancelled */
export async function partOfFile(file: Blob): Promise<Blob | null> {
  const address = URL.createObjectURL(file);
  const region = await chooseRegion((image) => {
    image.src = address;
  });
  URL.revokeObjectURL(address);
  return region && cutOut(file, region);
}

async function cutOut(file: Blob, { x, y, w, h }: Region): Promise<Blob> {
  const picture = await createImageBitmap(file);
  const [width, height] = [Math.max(1, Math.round(w * picture.width)), Math.max(1, Math.round(h * picture.height))];
  const canvas = new OffscreenCanvas(width, height);
  const [left, top] = [Math.round(x * picture.width), Math.round(y * picture.height)];
  canvas.getContext('2d')?.drawImage(picture, left, top, width, height, 0, 0, width, height);
  return canvas.convertToBlob({ type: 'image/png' });
}
