import type { Sharp } from 'sharp';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Typical edits of pictures, by name. The copy is written as JPEG of the given quality. */
export const EDITS: readonly (readonly [name: string, edit: (image: Sharp, size: Size) => Sharp, quality: number])[] = [
  [
    'cropped',
    (image, { width, height }) =>
      image.extract({
        left: Math.round(width * 0.1),
        top: Math.round(height * 0.08),
        width: Math.round(width * 0.8),
        height: Math.round(height * 0.84),
      }),
    85,
  ],
  ['mirrored', (image) => image.flop(), 85],
  ['recompressed', (image) => image, 18],
  ['framed', (image) => image.extend({ top: 26, bottom: 26, left: 26, right: 26, background: '#ffffff' }), 85],
  ['brightened', (image) => image.modulate({ brightness: 1.22 }), 85],
  ['darkened', (image) => image.modulate({ brightness: 0.72 }), 85],
  ['scaled down', (image, { width }) => image.resize(Math.round(width / 3)), 80],
  ['in gray', (image) => image.grayscale(), 85],
  ['turned a little', (image) => image.rotate(4, { background: '#ffffff' }), 85],
  ['with more colour', (image) => image.modulate({ saturation: 1.5 }), 85],
];
