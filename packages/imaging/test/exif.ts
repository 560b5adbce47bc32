import { drawBlocks, pngChunk, toSharp } from './pictures.ts';

export type Value = string | number | readonly (readonly [number, number])[];
/** Values of tags by their numbers: a text, a number, or fractions. */
export type Tags = Readonly<Record<number, Value>>;

/** An EXIF block as a camera writes it: main directory, then the directories of the picture and of GPS. */
export function exifBlock(main: Tags, picture: Tags = {}, gps: Tags = {}, bigEndian = false): Buffer {
  const parts: Buffer[] = [];
  let size = 8;
  const number = (bytes: number, value: number) => {
    const b = Buffer.alloc(bytes);
    if (bigEndian) b.writeUIntBE(value, 0, bytes);
    else b.writeUIntLE(value, 0, bytes);
    return b;
  };
  const u16 = (value: number) => number(2, value);
  const u32 = (value: number) => number(4, value);
  const append = (part: Buffer) => {
    const at = size;
    parts.push(part);
    size += part.length;
    return at;
  };
  const directory = (tags: Tags) => {
    const entries = Object.entries(tags).map(([tag, value]) => {
      if (typeof value === 'number') return Buffer.concat([u16(Number(tag)), u16(4), u32(1), u32(value)]);
      const bytes =
        typeof value === 'string' ? Buffer.from(`${value}\0`) : Buffer.concat(value.flat().map((part) => u32(part)));
      const count = typeof value === 'string' ? bytes.length : value.length;
      const place = bytes.length <= 4 ? Buffer.concat([bytes, Buffer.alloc(4)]).subarray(0, 4) : u32(append(bytes));
      return Buffer.concat([u16(Number(tag)), u16(typeof value === 'string' ? 2 : 5), u32(count), place]);
    });
    return append(Buffer.concat([u16(entries.length), ...entries, u32(0)]));
  };
  const pictureAt = directory(picture);
  const gpsAt = directory(gps);
  const mainAt = directory({ ...main, 34665: pictureAt, 34853: gpsAt });
  return Buffer.concat([Buffer.from(bigEndian ? 'MM\0*' : 'II*\0', 'latin1'), u32(mainAt), ...parts]);
}

export async function pngWith(exif: Buffer): Promise<Buffer> {
  const png = await toSharp(drawBlocks(1, 1)).png().toBuffer();
  return Buffer.concat([png.subarray(0, 33), pngChunk('eXIf', exif), png.subarray(33)]);
}

export async function jpegWith(exif: Buffer): Promise<Buffer> {
  const jpeg = await toSharp(drawBlocks(1, 1)).jpeg().toBuffer();
  const head = Buffer.from([0xff, 0xe1, (exif.length + 8) >> 8, (exif.length + 8) & 255]);
  return Buffer.concat([jpeg.subarray(0, 2), head, Buffer.from('Exif\0\0'), exif, jpeg.subarray(2)]);
}
