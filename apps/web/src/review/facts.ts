import type { FoundDocument } from '@akin/client';
import { bytes, day, number } from '../format.ts';

/** Formats by image quality, best first. */
export const FORMATS = ['RAW', 'TIFF', 'PNG', 'AVIF', 'JPEG', 'WEBP', 'GIF'];
const RAW = /^(3FR|ARW|CR2|CR3|DNG|ERF|IIQ|KDC|MEF|MOS|MRW|NEF|NRW|ORF|PEF|RAF|RAW|RW2|RWL|SR2|SRF|SRW|X3F)$/;
const ALIASES: Readonly<Record<string, string>> = { JPG: 'JPEG', JPE: 'JPEG', JFIF: 'JPEG', TIF: 'TIFF' };

/** By the file name extension; empty if there is none. */
export function formatOf({ id, image, path }: FoundDocument): string {
  const name = typeof image === 'string' ? image.replace(/[?#].*$/s, '') : typeof path === 'string' ? path : id;
  const ending = (/\.([a-z\d]{3,4})$/i.exec(name)?.[1] ?? '').toUpperCase();
  const format = RAW.test(ending) ? 'RAW' : (ALIASES[ending] ?? ending);
  return FORMATS.includes(format) ? format : '';
}

/** Differences between copies, one a line. */
export function factLines(document: FoundDocument): string[] {
  const { width, height, bytes: size, folder } = document;
  const date = dateOf(document);
  return [
    [typeof width === 'number' && typeof height === 'number' ? `${number(width)} × ${number(height)}` : ''],
    [typeof size === 'number' ? bytes(size) : '', formatOf(document)],
    [date === undefined ? '' : day(date)],
    [typeof folder === 'string' ? folder : ''],
  ].flatMap((parts) => parts.filter(Boolean).join(' · ') || []);
}

/** Whether the file is what a camera's sensor saw; akin knows its size by the preview inside. */
export function isRaw(document: FoundDocument): boolean {
  return formatOf(document) === 'RAW';
}

/** When it was taken. The time of a file says nothing about its picture. */
function dateOf({ taken }: FoundDocument): string | undefined {
  return typeof taken === 'string' ? taken : undefined;
}
