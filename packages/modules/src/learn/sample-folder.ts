import { extname } from 'node:path';
import { PICTURE_EXTENSIONS } from '@akin/imaging';

export function isPictureName(name: string): boolean {
  return PICTURE_EXTENSIONS.has(extname(name).toLowerCase());
}

/**
 * At most `max` of the files, in their order. Files named like pictures come before others; both are sampled evenly.
 */
export function fewerFiles(max: number, files: readonly string[]): string[] {
  if (files.length <= max) return [...files];
  const named = evenSample(max, files.filter(isPictureName));
  const others = files.filter((file) => !isPictureName(file));
  const taken = new Set([...named, ...evenSample(max - named.length, others)]);
  return files.filter((file) => taken.has(file));
}

export function evenSample<T>(max: number, list: readonly T[]): T[] {
  return evenIndexes(max, list.length).map((index) => list[index] as T);
}

export function evenIndexes(max: number, length: number): number[] {
  const count = Math.min(max, length);
  return Array.from({ length: count }, (_, i) => Math.floor((i * length) / count));
}
