import { createRandom } from '@akin/domain';
import { type Pixels, resizeArea } from '@akin/imaging';
import { analyzeCopyspace } from '@akin/modules/internal/copyspace/analyze';
import { SQUARE } from '@akin/modules/internal/picture/picture';
import { type Bitmap, toSharp } from './bitmap.ts';

export interface CopyspaceFigures {
  /** Precision and recall of the cells that were drawn calm. */
  readonly precision: number;
  readonly recall: number;
  /** Agreement between the cells of a real picture and of its half-size JPEG of quality 50: intersection over union. */
  readonly stability: number;
}

const SIZE = 360;
const CELL = SIZE / 3;
type Paint = (x: number, y: number) => readonly [number, number, number];

/** Backgrounds on which text is readable: plain, a gradient, soft out-of-focus blobs, faint grain. */
const CALM: readonly ((random: () => number) => Paint)[] = [
  (random) => plain(random),
  (random) => {
    const [from, to] = [tone(random), 1];
    return (x, y) => gray(from + (to - from) * 0.15 * Math.sin((x + y) / SIZE));
  },
  (random) => {
    const base = tone(random);
    const [cx, cy] = [random() * SIZE, random() * SIZE];
    return (x, y) => gray(base + 0.1 * Math.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 9000));
  },
  (random) => {
    const base = tone(random);
    return () => gray(base + 0.02 * (random() - 0.5));
  },
];

/** Backgrounds on which text is not readable: checks, leaves, bricks, faces of high contrast, scattered letters. */
const BUSY: readonly ((random: () => number) => Paint)[] = [
  (random) => {
    const side = 6 + 14 * random();
    return (x, y) => gray((Math.floor(x / side) + Math.floor(y / side)) % 2 ? 0.15 : 0.85);
  },
  (random) => {
    const blobs = Array.from({ length: 160 }, () => [random() * SIZE, random() * SIZE, random()] as const);
    return (x, y) => {
      let nearest = Number.POSITIVE_INFINITY;
      let shade = 0;
      for (const [bx, by, s] of blobs) {
        const far = (x - bx) ** 2 + (y - by) ** 2;
        if (far < nearest) [nearest, shade] = [far, s];
      }
      return [Math.round(150 * shade), Math.round(60 + 180 * shade), Math.round(90 * shade)];
    };
  },
  (random) => {
    const rows = 12 + 10 * random();
    return (x, y) => {
      const row = Math.floor(y / rows);
      const mortar = y % rows < 2.5 || (x + (row % 2) * rows) % (2 * rows) < 2.5;
      return mortar ? [225, 220, 210] : [150 + ((row * 37) % 40), 70, 50];
    };
  },
  (random) => {
    const [a, b] = [0.05 + 0.1 * random(), 0.05 + 0.1 * random()];
    return (x, y) => gray(0.5 + 0.3 * Math.sin(a * x + 3 * Math.sin(b * y)) + 0.2 * Math.sin(b * x * 1.7 + a * y));
  },
];

const gray = (value: number) => {
  const byte = Math.round(255 * Math.max(0, Math.min(1, value)));
  return [byte, byte, byte] as const;
};
/** Dark or bright, but not medium: neither black nor white text is readable on a textured middle gray. */
const tone = (random: () => number) => (random() < 0.5 ? 0.05 + 0.2 * random() : 0.75 + 0.15 * random());
function plain(random: () => number): Paint {
  const color = gray(tone(random));
  return () => color;
}

/** Measures drawn pictures with known cells, and the agreement on real pictures after scaling and compression. */
export async function measureCopyspace(pictures: readonly Pixels[], drawn: number): Promise<CopyspaceFigures> {
  const random = createRandom(5);
  let [right, said, there] = [0, 0, 0];
  for (let i = 0; i < drawn; i++) {
    const truth = Array.from({ length: 9 }, () => random() < 0.5);
    const calm = (CALM[Math.floor(random() * CALM.length)] as (typeof CALM)[number])(random);
    const busy = (BUSY[Math.floor(random() * BUSY.length)] as (typeof BUSY)[number])(random);
    const data = new Uint8Array(3 * SIZE * SIZE);
    for (let y = 0; y < SIZE; y++) {
      for (let x = 0; x < SIZE; x++) {
        const cell = 3 * Math.floor(y / CELL) + Math.floor(x / CELL);
        data.set((truth[cell] ? calm : busy)(x, y), 3 * (y * SIZE + x));
      }
    }
    const found = calmCells({ width: SIZE, height: SIZE, data });
    right += found.filter((cell) => truth[cell]).length;
    said += found.length;
    there += truth.filter(Boolean).length;
  }
  let [shared, either] = [0, 0];
  for (const pixels of pictures) {
    const before = new Set(calmCells(pixels));
    const after = new Set(calmCells(await halved(pixels)));
    shared += [...before].filter((cell) => after.has(cell)).length;
    either += new Set([...before, ...after]).size;
  }
  return { precision: right / said, recall: right / there, stability: shared / either };
}

/** The calm cells found by the module. */
function calmCells(pixels: Pixels): number[] {
  return analyzeCopyspace(resizeArea(pixels, SQUARE, SQUARE));
}

async function halved(pixels: Pixels): Promise<Bitmap> {
  const width = Math.max(1, pixels.width >> 1);
  const bytes = await toSharp(pixels).resize({ width }).jpeg({ quality: 50 }).toBuffer();
  const { bitmapOf } = await import('./bitmap.ts');
  const { default: sharp } = await import('sharp');
  return bitmapOf(sharp(bytes));
}
