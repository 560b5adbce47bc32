import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { difference, drawBlocks, toSharp, withOrientation } from '../test/pictures.ts';
import { decodeImage } from './decode.ts';
import { readPictureFacts } from './facts/picture-facts.ts';
import { sniffImage } from './sniff.ts';
import { mainPage } from './tiff-pages.ts';

type Entry = readonly [tag: number, type: 1 | 2 | 3 | 4 | 7, value: readonly number[] | string | Buffer];

/** A little-endian TIFF whose parts are added one after the other. Offset 4 gets that of the first directory. */
class TiffFile {
  bytes = Buffer.from('II*\0\0\0\0\0', 'latin1');

  add(part: Buffer): number {
    const at = this.bytes.length;
    this.bytes = Buffer.concat([this.bytes, part]);
    return at;
  }

  directory(entries: readonly Entry[], next = 0): number {
    const size = { 1: 1, 2: 1, 3: 2, 4: 4, 7: 1 };
    const rows = [...entries]
      .sort(([a], [b]) => a - b)
      .map(([tag, type, value]) => {
        const data =
          typeof value === 'string'
            ? Buffer.from(`${value}\0`)
            : Buffer.isBuffer(value)
              ? value
              : Buffer.concat(
                  (value as readonly number[]).map((one) => {
                    const b = Buffer.alloc(size[type]);
                    b.writeUIntLE(one, 0, size[type]);
                    return b;
                  }),
                );
        const row = Buffer.alloc(12);
        row.writeUInt16LE(tag, 0);
        row.writeUInt16LE(type, 2);
        row.writeUInt32LE(data.length / size[type], 4);
        if (data.length <= 4) data.copy(row, 8);
        else row.writeUInt32LE(this.add(data), 8);
        return row;
      });
    const table = Buffer.alloc(6);
    table.writeUInt16LE(rows.length, 0);
    table.writeUInt32LE(next, 2);
    return this.add(Buffer.concat([table.subarray(0, 2), ...rows, table.subarray(2)]));
  }

  startWith(directory: number): Buffer {
    this.bytes.writeUInt32LE(directory, 4);
    return this.bytes;
  }
}

const scene = drawBlocks(40, 24);
const jpegOf = (pixels = scene) => toSharp(pixels).jpeg({ quality: 98, chromaSubsampling: '4:4:4' }).toBuffer();
const thumbnail = () => toSharp(drawBlocks(4, 3)).jpeg().toBuffer();
const CAMERA: readonly Entry[] = [
  [271, 2, 'NIKON CORPORATION'],
  [272, 2, 'NIKON D750'],
];
const SENSOR: readonly Entry[] = [
  [254, 4, [0]],
  [256, 4, [1200]],
  [257, 4, [800]],
  [262, 3, [32803]],
];

/** As Nikon, Sony and Adobe lay it out: a thumbnail, and in sub-directories the preview and the sensor data. */
async function nef(preview: Buffer, orientation = 1, more: readonly Entry[] = []): Promise<Buffer> {
  const file = new TiffFile();
  const [at, small] = [file.add(preview), file.add(await thumbnail())];
  const previewDirectory = file.directory([
    [259, 3, [6]],
    [513, 4, [at]],
    [514, 4, [preview.length]],
  ]);
  const exif = file.directory([[36867, 2, '2019:05:04 14:00:00']]);
  return file.startWith(
    file.directory([
      [254, 4, [1]],
      ...CAMERA,
      [274, 3, [orientation]],
      [330, 4, [previewDirectory, file.directory(SENSOR)]],
      [34665, 4, [exif]],
      [513, 4, [small]],
      [514, 4, [1000]],
      ...more,
    ]),
  );
}

const box = (name: string, ...parts: Buffer[]) => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(8 + parts.reduce((sum, { length }) => sum + length, 0));
  return Buffer.concat([size, Buffer.from(name, 'latin1'), ...parts]);
};

async function cr3(preview: Buffer, orientation: number): Promise<Buffer> {
  const block = (...entries: Entry[]) => {
    const file = new TiffFile();
    return file.startWith(file.directory(entries));
  };
  const main = block([271, 2, 'Canon'], [272, 2, 'Canon EOS R5'], [274, 3, [orientation]]);
  const exif = block([36867, 2, '2019:05:04 14:00:00']);
  const canon = box('uuid', Buffer.alloc(16), box('CMT1', main), box('CMT2', exif));
  return Buffer.concat([
    box('ftyp', Buffer.from('crx \0\0\0\x01crx isom', 'latin1')),
    box('moov', canon),
    box('mdat', Buffer.alloc(16), preview, Buffer.alloc(1000, 7)),
  ]);
}

async function raf(preview: Buffer): Promise<Buffer> {
  return Buffer.concat([Buffer.from('FUJIFILMCCD-RAW 0201FF129502'.padEnd(148, '\0')), preview, Buffer.alloc(999)]);
}

async function olympus(preview: Buffer): Promise<Buffer> {
  const file = new TiffFile();
  file.add(preview);
  const bytes = file.startWith(file.directory(CAMERA));
  bytes.write('IIRO', 'latin1');
  return bytes;
}

async function panasonic(preview: Buffer): Promise<Buffer> {
  const file = new TiffFile();
  const bytes = file.startWith(file.directory([...CAMERA, [46, 7, preview]]));
  bytes.write('IIU\0', 'latin1');
  return bytes;
}

async function canonCr2(preview: Buffer): Promise<Buffer> {
  const file = new TiffFile();
  file.add(Buffer.from('CR\x02\0\0\0\0\0', 'latin1'));
  const strip = file.add(preview);
  const lossless = file.add(
    Buffer.from('\xff\xd8\xff\xc3\0\x11\x0e\x27\x10\x27\x10\x01\x01\x11\0\0\0\0\0\0', 'latin1'),
  );
  const sensor = file.directory([
    [259, 3, [6]],
    [273, 4, [lossless]],
    [279, 4, [20]],
  ]);
  return file.startWith(
    file.directory([...CAMERA, [259, 3, [6]], [273, 4, [strip]], [279, 4, [preview.length]]], sensor),
  );
}

const LIMITS = { minSide: 2_000 };

describe('raw files', () => {
  it.each<[string, (preview: Buffer) => Promise<Buffer>]>([
    ['NEF, ARW', nef],
    ['DNG', (preview) => nef(preview, 1, [[50706, 1, [1, 4, 0, 0]]])],
    ['CR2', canonCr2],
    ['CR3', (preview) => cr3(preview, 1)],
    ['RAF', raf],
    ['ORF', olympus],
    ['RW2', panasonic],
  ])('are read as the largest JPEG inside: %s', async (_, make) => {
    const preview = await jpegOf();
    const bytes = await make(preview);
    expect(sniffImage(bytes)).toBe('raw');
    const { pixels, ...raw } = await decodeImage(bytes, LIMITS);
    const { pixels: expected, ...jpeg } = await decodeImage(preview, LIMITS);
    expect(raw).toEqual({ ...jpeg, type: 'raw' });
    // Jest takes a second to compare so many bytes.
    expect(difference(pixels, expected).max).toBe(0);
  });

  it('are upright, by their own orientation or that of the JPEG', async () => {
    for (const orientation of [3, 6]) {
      const stored = await jpegOf(withOrientation(orientation, scene));
      const own = await toSharp(withOrientation(orientation, scene))
        .jpeg({ quality: 98 })
        .withMetadata({ orientation })
        .toBuffer();
      for (const file of [await nef(stored, orientation), await cr3(stored, orientation), await nef(own, 1)]) {
        const { pixels } = await decodeImage(file, LIMITS);
        expect(difference(pixels, scene).mean).toBeLessThan(5);
      }
    }
  });

  it('have the facts that the camera stored', async () => {
    const taken = new Date('2019-05-04T14:00:00Z');
    expect(await readPictureFacts(await nef(await jpegOf()))).toEqual({ taken, camera: 'NIKON D750' });
    expect(await readPictureFacts(await cr3(await jpegOf(), 1))).toEqual({ taken, camera: 'Canon EOS R5' });
    const shot = await toSharp(scene)
      .withExif({ IFD0: { Model: 'X-T5' } })
      .jpeg()
      .toBuffer();
    expect(await readPictureFacts(await raf(shot))).toEqual({ camera: 'X-T5' });
  });

  it.each<[string, () => Promise<Buffer>]>([
    ['no JPEG', () => raf(Buffer.alloc(100))],
    ['offsets beyond the end', async () => (await nef(await jpegOf())).subarray(-900)],
    [
      'only lossless sensor data',
      async () => {
        const file = new TiffFile();
        const at = file.add(Buffer.from('\xff\xd8\xff\xc3\0\x11\x0e\x27\x10\x27\x10\x01\x01\x11\0', 'latin1'));
        return file.startWith(file.directory([...SENSOR, [259, 3, [7]], [273, 4, [at]], [279, 4, [15]]]));
      },
    ],
  ])('are refused by name if they have %s', async (what, make) => {
    const refused = decodeImage(await make(), LIMITS);
    if (what === 'offsets beyond the end') await expect(refused).rejects.toMatchObject({ code: 'unsupported-image' });
    else await expect(refused).rejects.toThrow('It is a raw camera file without a JPEG inside');
  });

  it('survive any damage', async () => {
    const files = [await nef(await thumbnail()), await cr3(await thumbnail(), 6), await panasonic(await thumbnail())];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.array(fc.tuple(fc.nat(4_000), fc.nat(255)), { maxLength: 20 }),
        fc.nat(4_000),
        async (file, changes, cut) => {
          const damaged = Buffer.from(file.subarray(0, file.length - (cut % file.length)));
          for (const [at, value] of changes) if (at < damaged.length) damaged[at] = value;
          await readPictureFacts(damaged);
          await decodeImage(damaged, LIMITS).catch((error) => expect(error.name).toBe('AkinError'));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('end at directories that point at themselves', async () => {
    const file = new TiffFile();
    file.startWith(8);
    file.directory([...CAMERA, [330, 4, Array(500).fill(8)], [50706, 1, [1, 4, 0, 0]]], 8);
    // The table comes after its long values.
    const at = file.bytes.length - (4 * 12 + 6);
    file.bytes.writeUInt32LE(at, 4);
    file.bytes.writeUInt32LE(at, file.bytes.length - 4);
    expect(sniffImage(file.bytes)).toBe('raw');
    await expect(decodeImage(file.bytes, LIMITS)).rejects.toThrow('without a JPEG inside');
  });
});

describe('TIFF pages', () => {
  const page = (width: number, height: number, kind = 0): readonly Entry[] => [
    [254, 4, [kind]],
    [256, 4, [width]],
    [257, 4, [height]],
  ];
  const tiff = (...pages: (readonly Entry[])[]) => {
    const file = new TiffFile();
    let next = 0;
    for (const one of pages.reverse()) next = file.directory(one, next);
    return file.startWith(next);
  };

  it.each([
    ['the only one', [page(900, 600)], 0],
    ['the first of a document', [page(2480, 3508), page(2480, 3508), page(3508, 2480)], 0],
    ['the first of a pyramid', [page(900, 600), page(450, 300, 1)], 0],
    ['the largest after a small one', [page(80, 53), page(900, 600), page(450, 300)], 1],
    ['the largest after one that is marked', [page(1000, 600, 1), page(450, 300), page(1200, 700)], 2],
  ])('decodes %s', (_, pages, expected) => {
    expect(mainPage(tiff(...pages))).toBe(expected);
  });

  it('decodes the picture after its thumbnail', async () => {
    const [small, large] = await Promise.all(
      [drawBlocks(4, 3), scene].map((pixels) => toSharp(pixels).tiff({ compression: 'none' }).toBuffer()),
    );
    expect(mainPage(small as Buffer)).toBe(0);
    // Appends the second file, with its offsets moved, to the chain of the first one.
    const joined = joinTiffs(small as Buffer, large as Buffer);
    const { width, height, pixels } = await decodeImage(joined, LIMITS);
    expect({ width, height }).toEqual({ width: scene.width, height: scene.height });
    expect(difference(pixels, scene).max).toBe(0);
  });
});

/** A TIFF with the first pages of two little-endian ones. */
function joinTiffs(first: Buffer, second: Buffer): Buffer {
  const SIZES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];
  const moved = Buffer.from(second);
  const directory = moved.readUInt32LE(4);
  for (let i = 0; i < moved.readUInt16LE(directory); i++) {
    const entry = directory + 2 + i * 12;
    const [tag, type, count] = [
      moved.readUInt16LE(entry),
      moved.readUInt16LE(entry + 2),
      moved.readUInt32LE(entry + 4),
    ];
    const value = moved.readUInt32LE(entry + 8);
    if (tag === 273) {
      // Strips: one offset in place, or a list.
      for (let k = 0; k < count; k++) {
        const at = count === 1 ? entry + 8 : value + k * 4;
        moved.writeUInt32LE(moved.readUInt32LE(at) + first.length, at);
      }
    }
    if ((SIZES[type] ?? 0) * count > 4) moved.writeUInt32LE(value + first.length, entry + 8);
  }
  const joined = Buffer.concat([first, moved]);
  const chain = first.readUInt32LE(4);
  joined.writeUInt32LE(first.length + directory, chain + 2 + first.readUInt16LE(chain) * 12);
  return joined;
}
