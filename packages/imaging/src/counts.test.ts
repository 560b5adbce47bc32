import { describe, expect, it } from '@jest/globals';
import { countScans } from './counts.ts';
import { decodeImage } from './decode.ts';
import { drawBlocks, toSharp } from './testing/pictures.ts';

const picture = toSharp(drawBlocks(5, 3));
const decode = (bytes: Uint8Array, limits = {}) => decodeImage(bytes, { minSide: 256, limits });
const fakeScans = Buffer.alloc(60_000, Buffer.from([0xff, 0xda]));

/** Repeats the last scan of a JPEG. */
function withMoreScans(bytes: Buffer, more: number): Buffer {
  const scan = bytes.subarray(bytes.lastIndexOf(Buffer.from([0xff, 0xda])), -2);
  return Buffer.concat([bytes.subarray(0, -2), ...Array(more).fill(scan), bytes.subarray(-2)]);
}

describe('the scans of a JPEG', () => {
  it('are refused before decoding if there are more than the limit', async () => {
    const progressive = await picture.clone().jpeg({ progressive: true }).toBuffer();
    const scans = countScans(progressive);
    expect(scans).toBeGreaterThan(3);
    expect(scans).toBeLessThan(15);
    expect((await decode(progressive, { scans })).width).toBe(80);
    await expect(decode(withMoreScans(progressive, 100))).rejects.toMatchObject({
      code: 'image-undecodable',
      message: expect.stringMatching(new RegExp(`JPEG image has ${scans + 100} scans, over the limit of 100`)),
    });
  });

  it('are found behind stray bytes, padding and restart marks', async () => {
    const bytes = await picture.clone().jpeg({ progressive: true }).toBuffer();
    const stray = Buffer.from([7, 0, 0xff, 0, 0xff, 0xd0, 7, 0xff, 0x01, 0xff]);
    const at = bytes.lastIndexOf(Buffer.from([0xff, 0xda]));
    expect(countScans(Buffer.concat([bytes.subarray(0, at), stray, bytes.subarray(at)]))).toBe(countScans(bytes));
    expect(countScans(await picture.clone().jpeg().toBuffer())).toBe(1);
  });

  it('are not counted in EXIF and behind the end', async () => {
    const bytes = await picture.clone().jpeg({ progressive: true }).toBuffer();
    const exif = Buffer.concat([Buffer.from([0xff, 0xe1, 0xea, 0x62]), fakeScans]);
    const extended = Buffer.concat([bytes.subarray(0, 2), exif, bytes.subarray(2), fakeScans]);
    expect(countScans(extended)).toBe(countScans(bytes));
    expect((await decode(extended)).width).toBe(80);
  });

  it('are counted in any bytes', () => {
    for (let length = 0; length < 12; length++) expect(countScans(new Uint8Array(length).fill(0xff))).toBe(0);
    expect(countScans(Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 0, 0xff]))).toBe(1);
  });
});
