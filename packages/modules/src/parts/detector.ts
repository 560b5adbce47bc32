import type { Pixels } from '@akin/imaging';
import { type Corner, choosePoints, type LevelSize } from './choose.ts';
import { createKernel, type Kernel } from './kernel.ts';
import { PAIRS } from './pairs.ts';
import { BITS, LEVEL_FACTOR, type Point, TURNS } from './points.ts';

/** Longest side of a picture whose points are found, in pixels. */
export const MAX_LONG_SIDE = 640;
/** Levels with a shorter side have no room for points. */
const MIN_SIDE = 46;
/** Least difference between a corner and its surroundings, of 255. */
const STEP = 8;

const PAGE = 65_536;
const PIXELS = MAX_LONG_SIDE ** 2;
/** The sum of all levels is less than this many times the finest one. */
const PYRAMID = 3.4;

/** Where things are in the memory of the kernel. */
const PAIRS_AT = PAGE;
const OUT_AT = PAIRS_AT + TURNS * BITS * 4;
const ROW_AT = OUT_AT + 1_024;
const COLUMNS_AT = ROW_AT + 8 * MAX_LONG_SIDE;
const SOURCE_AT = COLUMNS_AT + 8 * MAX_LONG_SIDE;
const LEVELS_AT = SOURCE_AT + 4 * PIXELS + 64;
const BLURRED_AT = LEVELS_AT + PYRAMID * PIXELS;
const SCORES_AT = BLURRED_AT + PYRAMID * PIXELS;
const FOUND_AT = SCORES_AT + 2 * PIXELS;
const CORNERS_AT = FOUND_AT + 4 * PIXELS;
const BYTES = CORNERS_AT + 2 * PIXELS + 64;

interface Level extends LevelSize {
  readonly at: number;
  readonly blurredAt: number;
}

/** The levels of a picture and their corners, until the next picture is detected. */
interface Detected {
  readonly levels: readonly Level[];
  readonly corners: readonly Corner[];
}

/**
 * Finds points of pictures that are found again in their edits: corners on a pyramid, each with a turn and 128 bits
 * that compare pixels around it (ORB, Rublee et al. 2011, with pairs that were learned from photos). Takes 8 MB.
 */
export class PointDetector {
  readonly #memory: WebAssembly.Memory;
  readonly #kernel: Kernel;

  /** @param pairs x and y of both pixels of each comparison */
  constructor(create = createKernel, pairs: Int8Array = PAIRS) {
    const pages = Math.ceil(BYTES / PAGE);
    this.#memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    this.#kernel = create(this.#memory);
    const turned = new Int8Array(this.#memory.buffer, PAIRS_AT, TURNS * BITS * 4);
    for (let turn = 0; turn < TURNS; turn++) turned.set(turnedPairs(pairs, turn), turn * BITS * 4);
  }

  /** @param longSide of the finest level, in pixels: smaller pictures are enlarged */
  detect(pixels: Pixels, longSide: number, maxLevels: number): Detected {
    const [first, ...others] = levelSizes(pixels, longSide, maxLevels);
    if (first === undefined) return { levels: [], corners: [] };
    const bytes = new Uint8Array(this.#memory.buffer);
    const gray = halvedGray(pixels, first);
    bytes.set(gray.data, SOURCE_AT);
    const kernel = this.#kernel;
    const levels: Level[] = [];
    const corners: Corner[] = [];
    let source = { ...gray, at: SOURCE_AT };
    let offset = 0;
    for (const { width, height } of [first, ...others]) {
      const level = { width, height, at: LEVELS_AT + offset, blurredAt: BLURRED_AT + offset };
      kernel.resize(source.at, source.width, source.height, level.at, width, height, ROW_AT, COLUMNS_AT);
      kernel.blur(level.at, width, height, level.blurredAt, ROW_AT);
      for (const corner of this.#cornersOf(level, levels.length)) corners.push(corner);
      levels.push(level);
      source = { ...gray, ...level };
      offset += width * height + 32;
    }
    return { levels, corners };
  }

  /** @param from the finest level that counts @param pool see {@link choosePoints} */
  points({ levels, corners }: Detected, max: number, from = 0, pool = 2): Point[] {
    const shifted =
      from === 0
        ? corners
        : corners.flatMap(({ level, ...others }) => (level < from ? [] : [{ ...others, level: level - from }]));
    const chosen = choosePoints(shifted, levels.slice(from), max, LEVEL_FACTOR, pool);
    const [{ width, height } = { width: 1, height: 1 }] = levels;
    const long = Math.max(width, height);
    return chosen.map(({ level, x, y }) => {
      const { at, blurredAt, ...size } = levels[level + from] as Level;
      this.#kernel.moments(at + y * size.width + x, size.width, OUT_AT);
      const [right = 0, down = 0] = new Int32Array(this.#memory.buffer, OUT_AT, 2);
      const turn = (Math.round((Math.atan2(down, right) / (2 * Math.PI)) * TURNS) + TURNS) % TURNS;
      const pairsAt = PAIRS_AT + turn * BITS * 4;
      this.#kernel.describe(blurredAt + y * size.width + x, size.width, pairsAt, BITS, OUT_AT);
      return {
        x: ((x + 0.5) * width) / size.width / long,
        y: ((y + 0.5) * height) / size.height / long,
        level: level + from,
        turn,
        bits: new Uint32Array(this.#memory.buffer, OUT_AT, BITS / 32).slice(),
      };
    });
  }

  #cornersOf({ at, width, height }: Level, level: number): Corner[] {
    const count = this.#kernel.corners(at, width, height, STEP, SCORES_AT, FOUND_AT, CORNERS_AT);
    const view = new DataView(this.#memory.buffer, CORNERS_AT, 8 * count);
    return Array.from({ length: count }, (_, i) => {
      const pixel = view.getUint32(8 * i, true);
      const y = Math.floor(pixel / width);
      return { level, x: pixel - y * width, y, response: view.getFloat32(8 * i + 4, true) };
    });
  }
}

function turnedPairs(pairs: Int8Array, turn: number): Int8Array {
  const angle = (2 * Math.PI * turn) / TURNS;
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return pairs.map((_, i) => {
    const [x, y] = [pairs[i & ~1] as number, pairs[i | 1] as number];
    return Math.round((i & 1) === 0 ? x * c - y * s : x * s + y * c);
  });
}

/** The sizes of the levels, finest first. Empty for lines, which have no room for a point. */
function levelSizes({ width, height }: LevelSize, longSide: number, max: number): LevelSize[] {
  const scale = longSide / Math.max(width, height);
  const sizes: LevelSize[] = [];
  for (let level = 0; level < max; level++) {
    const side = (length: number) => Math.round((length * scale) / LEVEL_FACTOR ** level);
    const size = { width: side(width), height: side(height) };
    if (Math.min(size.width, size.height) < MIN_SIDE) break;
    sizes.push(size);
  }
  return sizes;
}

/** The brightness of a picture, halved while it is at least twice as large as wanted. */
function halvedGray({ width, height, data }: Pixels, wanted: LevelSize): Pixels {
  const gray = new Uint8Array(width * height);
  for (let i = 0, at = 0; i < gray.length; i++, at += 3) {
    gray[i] = (77 * (data[at] as number) + 150 * (data[at + 1] as number) + 29 * (data[at + 2] as number)) >> 8;
  }
  let found: Pixels = { width, height, data: gray };
  while (found.width >= 2 * wanted.width && found.height >= 2 * wanted.height) found = halved(found);
  return found;
}

function halved(gray: Pixels): Pixels {
  const [width, height] = [gray.width >> 1, gray.height >> 1];
  const data = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0, at = 2 * y * gray.width; x < width; x++, at += 2) {
      const below = at + gray.width;
      const upper = (gray.data[at] as number) + (gray.data[at + 1] as number);
      data[y * width + x] = (upper + (gray.data[below] as number) + (gray.data[below + 1] as number) + 2) >> 2;
    }
  }
  return { width, height, data };
}
