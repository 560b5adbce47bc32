import { describe, expect, it, jest } from '@jest/globals';
import sharp from 'sharp';
import { drawBlocks, toSharp } from '../test/pictures.ts';
import { countFrames, countScans } from './counts.ts';
import { decodeImage } from './decode.ts';

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

  it('are found behind stray bytes, padding and restart markers', async () => {
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

describe('the frames of a GIF and the pages of a TIFF', () => {
  const colors = ['#f00', '#0f0', '#00f', '#fff'];

  it('are as many as the decoder finds', async () => {
    const frames = await Promise.all(
      colors.map((background) =>
        sharp({ create: { width: 9, height: 7, channels: 3, background } })
          .png()
          .toBuffer(),
      ),
    );
    const all = sharp(frames, { join: { animated: true } });
    for (const [type, bytes] of [
      ['gif', await all.clone().gif({ loop: 3 }).toBuffer()],
      ['tiff', await all.clone().tiff({ compression: 'lzw' }).toBuffer()],
      ['tiff', await all.clone().tiff({ bigtiff: true }).toBuffer()],
    ] as const) {
      expect((await sharp(bytes).metadata()).pages).toBe(4);
      expect(countFrames(type, bytes, 10)).toBe(4);
      expect(countFrames(type, bytes, 2)).toBe(3);
      await expect(decode(bytes, { frames: 3 })).rejects.toThrow(/more than 3 frames/);
      expect((await decode(bytes, { frames: 4 })).width).toBe(9);
      for (let length = 20; length < bytes.length; length++) {
        expect(countFrames(type, bytes.subarray(0, length), 10)).toBeLessThanOrEqual(4);
      }
    }
  });

  it('are counted past comments and empty extensions of a GIF', async () => {
    const [head, end] = [Buffer.from('GIF89a\x05\0\x05\0\0\0\0', 'latin1'), Buffer.from(';')];
    const frame = Buffer.from(',\0\0\0\0\x05\0\x05\0\0\x02\x02\x44\x01\0', 'latin1');
    const comment = Buffer.from('!\xfe\x02hi\0', 'latin1');
    const emptyComment = Buffer.from('!\xfe\0', 'latin1');
    const emptyFirst = Buffer.from('!\xf9\0\x02hi\0', 'latin1');
    const bytes = Buffer.concat([head, comment, frame, emptyComment, frame, emptyFirst, frame, end, frame]);
    expect((await sharp(bytes).metadata()).pages).toBe(3);
    expect(countFrames('gif', bytes, 10)).toBe(3);
  });

  it('are counted in a big-endian TIFF, and in one whose last directory points to the first', () => {
    const bytes = Buffer.alloc(26);
    bytes.write('MM\0*', 'latin1');
    bytes.writeUInt32BE(8, 4);
    bytes.writeUInt32BE(14, 10);
    bytes.writeUInt32BE(20, 16);
    expect(countFrames('tiff', bytes, 10)).toBe(3);
    bytes.writeUInt32BE(8, 22);
    expect(countFrames('tiff', bytes, 10)).toBe(3);
  });

  it('are refused before the decoder counts them', async () => {
    const metadata = jest.spyOn(sharp.prototype, 'metadata');
    const frame = Buffer.from(',\0\0\0\0\x05\0\x05\0\0\x02\x02\x44\x01\0', 'latin1');
    const bytes = Buffer.concat([
      Buffer.from('GIF89a\x05\0\x05\0\0\0\0', 'latin1'),
      Buffer.alloc(frame.length * 2_001, frame),
      Buffer.from(';'),
    ]);
    await expect(decode(bytes)).rejects.toMatchObject({
      code: 'image-undecodable',
      message: expect.stringMatching(/GIF image has more than 2000 frames/),
    });
    expect(metadata).not.toHaveBeenCalled();
    metadata.mockRestore();
  });
});
