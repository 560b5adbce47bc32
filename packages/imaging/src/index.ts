export { decodeBase64 } from '@akin/domain';
export type { DownloadPolicy } from './address.ts';
export * from './decode.ts';
export * from './download.ts';
export * from './exif.ts';
export * from './limits.ts';
export * from './resize.ts';
export { type ImageType, looksLikePhoto, PICTURE_ENDINGS, sniffImage } from './sniff.ts';
export * from './thumbnail.ts';
