import { expect, it } from '@jest/globals';
import sharp from 'sharp';
import { colorAt, drawBlocks, toSharp } from '../test/pictures.ts';
import { decodeImage } from './decode.ts';
import { isSrgbProfile } from './icc.ts';

const SRGB = { r: [0.43607, 0.22249, 0.01392], g: [0.38515, 0.71687, 0.09708], b: [0.14307, 0.06061, 0.7141] };
type Primaries = typeof SRGB;
const ADOBE: Primaries = {
  r: [0.60974, 0.31111, 0.01947],
  g: [0.20528, 0.62567, 0.06087],
  b: [0.14919, 0.06322, 0.74457],
};

const word = (value: number) => {
  const b = Buffer.alloc(4);
  b.writeInt32BE(Math.round(value));
  return b;
};
const half = (value: number) => word(Math.round(value)).subarray(2);
const power = (gamma: number) => Buffer.concat([Buffer.from('curv\0\0\0\0'), word(1), half(gamma * 256), half(0)]);
const toLinear = (x: number) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
const table = (count: number) =>
  Buffer.concat([
    Buffer.from('curv\0\0\0\0'),
    word(count),
    ...Array.from({ length: count }, (_, i) => half(toLinear(i / (count - 1)) * 65_535)),
  ]);
const parametric = Buffer.concat([
  Buffer.from('para\0\0\0\0\0\x03\0\0', 'latin1'),
  ...[2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045].map((value) => word(value * 65_536)),
]);

/** A profile of three colours and one curve, with this name. */
function profile(name: string, primaries: Primaries, curve: Buffer): Buffer {
  const description = Buffer.concat([
    Buffer.from('desc\0\0\0\0'),
    word(name.length + 1),
    Buffer.from(name),
    Buffer.alloc(79),
  ]);
  const xyz = (values: number[]) =>
    Buffer.concat([Buffer.from('XYZ \0\0\0\0'), ...values.map((v) => word(v * 65_536))]);
  const tags: [string, Buffer][] = [
    ['desc', description],
    ['wtpt', xyz([0.9642, 1, 0.8249])],
    ['rXYZ', xyz(primaries.r)],
    ['gXYZ', xyz(primaries.g)],
    ['bXYZ', xyz(primaries.b)],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ];
  let at = 132 + tags.length * 12;
  const padded = tags.map(
    ([key, data]) => [key, Buffer.concat([data, Buffer.alloc((4 - (data.length % 4)) % 4)])] as const,
  );
  const rows = padded.map(([key, data]) => {
    const row = Buffer.concat([Buffer.from(key), word(at), word(data.length)]);
    at += data.length;
    return row;
  });
  const head = Buffer.alloc(128);
  head.write('lcms', 4);
  head.writeUInt32BE(0x02_10_00_00, 8);
  head.write('mntrRGB XYZ ', 12);
  head.write('acsp', 36);
  for (const [i, value] of [0.9642, 1, 0.8249].entries()) word(value * 65_536).copy(head, 68 + i * 4);
  const all = Buffer.concat([head, word(tags.length), ...rows, ...padded.map(([, data]) => data)]);
  all.writeUInt32BE(all.length, 0);
  return all;
}

it.each<[boolean, string, Buffer]>([
  [true, 'a table', profile('whatever', SRGB, table(1024))],
  [true, 'a parametric curve', profile('', SRGB, parametric)],
  [false, 'a linear curve, named sRGB', profile('sRGB-elle-V2-g10.icc', SRGB, power(1))],
  [false, 'another power, named sRGB', profile('sRGB', SRGB, power(1.8))],
  [false, 'other primaries, named sRGB', profile('not sRGB', ADOBE, table(1024))],
  [false, 'nothing', Buffer.alloc(0)],
  [false, 'a cut', profile('sRGB', SRGB, table(1024)).subarray(0, 300)],
  [false, 'a huge table', profile('sRGB', SRGB, Buffer.concat([Buffer.from('curv\0\0\0\0'), word(-1)]))],
])('says %p for a profile with %s', (expected, _, icc) => {
  expect(isSrgbProfile(icc)).toBe(expected);
});

it('knows the profile that sharp writes', async () => {
  const { icc } = await sharp(await toSharp(drawBlocks(1, 1)).withIccProfile('srgb').png().toBuffer()).metadata();
  expect(isSrgbProfile(icc as Buffer)).toBe(true);
});

it('converts a linear picture whose profile is named sRGB', async () => {
  const pixels = { width: 16, height: 16, data: new Uint8Array(768).fill(55) };
  const chunk = Buffer.from(profile('sRGB-elle-V2-g10.icc', SRGB, power(1)));
  const jpeg = await toSharp(pixels).jpeg({ quality: 100 }).toBuffer();
  const body = Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1'), chunk]);
  const length = word(body.length + 2).subarray(2);
  const file = Buffer.concat([jpeg.subarray(0, 2), Buffer.from([0xff, 0xe2]), length, body, jpeg.subarray(2)]);
  // 55 of 255 in linear light is 128 in sRGB.
  const [red] = colorAt((await decodeImage(file, { minSide: 256 })).pixels, 5, 5);
  expect(Math.abs((red as number) - 128)).toBeLessThan(3);
});
