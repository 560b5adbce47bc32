import { expect, it } from '@jest/globals';
import { sidecarNames } from './sidecar.ts';

it.each<[picture: string, sidecars: string[], others?: string[]]>([
  ['IMG_1.jpg', ['IMG_1.xmp'], ['IMG_2.xmp', 'IMG_1.jpg']],
  ['IMG_1.CR2', ['IMG_1.CR2.xmp'], ['IMG_1.xmp']],
  ['IMG_1.jpg', ['IMG_1.XMP', 'IMG_1.jpg.json']],
  ['IMG_1.jpg', ['IMG_1.jpg.supplemental-metadata.json'], ['IMG_1.jpg(1).json', 'IMG_1.png.json']],
  ['IMG_1.jpg', ['IMG_1.jpg.supplemental-me.json']],
  ['IMG_1(1).jpg', ['IMG_1.jpg(1).json'], ['IMG_1.jpg.json']],
  ['IMG_1(1).jpg', ['IMG_1.jpg.supplemental-metadata(1).json'], ['IMG_1.jpg.supplemental-metadata.json']],
  ['IMG_1-edited.jpg', ['IMG_1.jpg.json']],
  [`${'a'.repeat(47)}.jpg`, [`${'a'.repeat(46)}.json`]],
  ['IMG_1.jpg', [], ['metadata.json', 'IMG_10.xmp', 'IMG_1.json.txt']],
])('finds the sidecars of %s: %j', (picture, sidecars, others = []) => {
  expect(sidecarNames(picture, new Set([...others, ...sidecars, picture]))).toEqual(sidecars);
});
