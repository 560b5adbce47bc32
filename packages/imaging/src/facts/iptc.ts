import { parseWallTime, type WallTime } from './dates.ts';
import type { FoundFacts } from './found.ts';
import { cleanLine, cleanText } from './text.ts';

/** Numbers of the data sets of record 2 that are read. */
const DATA_SET = {
  title: 5,
  keyword: 25,
  date: 55,
  time: 60,
  digitizedDate: 62,
  digitizedTime: 63,
  headline: 105,
  caption: 120,
};
const MAX_DATA_SETS = 2_000;

/**
 * Reads IPTC data: an IIM block, or the resources of Photoshop that contain one, as in JPEG. Format: IPTC-NAA
 * Information Interchange Model 4.2.
 */
export function readIptc(bytes: Uint8Array): FoundFacts {
  const block = iimBlock(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const { values, isUtf8 } = readDataSets(block);
  const texts = (number: number) => (values.get(number) ?? []).map((value) => decode(value, isUtf8));
  const text = (number: number) => texts(number)[0] ?? '';
  return {
    original: readTime(text(DATA_SET.date), text(DATA_SET.time)),
    digitized: readTime(text(DATA_SET.digitizedDate), text(DATA_SET.digitizedTime)),
    title: cleanLine(text(DATA_SET.title)) ?? cleanLine(text(DATA_SET.headline)),
    caption: cleanText(text(DATA_SET.caption)),
    keywords: texts(DATA_SET.keyword),
  };
}

/** The IIM block, which is the resource 0x0404 of Photoshop. */
function iimBlock(bytes: Buffer): Buffer {
  if (bytes[0] === 0x1c) return bytes;
  let at = bytes.subarray(0, 64).indexOf('8BIM', 0, 'latin1');
  while (at >= 0 && at + 12 <= bytes.length && bytes.toString('latin1', at, at + 4) === '8BIM') {
    const id = bytes.readUInt16BE(at + 4);
    // A name of Pascal, padded to an even length.
    const sizeAt = at + 6 + 2 * Math.floor(((bytes[at + 6] ?? 0) + 2) / 2);
    if (sizeAt + 4 > bytes.length) break;
    const size = bytes.readUInt32BE(sizeAt);
    if (id === 0x0404) return bytes.subarray(sizeAt + 4, sizeAt + 4 + size);
    at = sizeAt + 4 + size + (size % 2);
  }
  return bytes.subarray(0, 0);
}

function readDataSets(block: Buffer): { values: Map<number, Buffer[]>; isUtf8: boolean } {
  const values = new Map<number, Buffer[]>();
  let isUtf8 = false;
  let count = 0;
  for (let at = 0; at + 5 <= block.length && block[at] === 0x1c && count < MAX_DATA_SETS; count++) {
    const [record, number, size] = [block[at + 1], block[at + 2] as number, block.readUInt16BE(at + 3)];
    // Longer data sets state the length of their length. None of those that are read is that long.
    if (size >= 0x8000) break;
    const value = block.subarray(at + 5, at + 5 + size);
    if (record === 1 && number === 90) isUtf8 = value.toString('latin1') === '\x1b%G';
    if (record === 2) values.set(number, [...(values.get(number) ?? []).slice(0, 500), value]);
    at += 5 + size;
  }
  return { values, isUtf8 };
}

/** Programs often write UTF-8 without saying so. */
function decode(value: Buffer, isUtf8: boolean): string {
  const text = value.toString('utf8');
  return isUtf8 || !text.includes('\ufffd') ? text : value.toString('latin1');
}

/** `20190504` and `140000+0200`; zeros stand for unknown parts. */
function readTime(date: string, time: string): WallTime | undefined {
  const day = /^(\d{4})-?(\d\d)-?(\d\d)/.exec(date.trim());
  if (!day) return undefined;
  const clock = /^(\d\d):?(\d\d):?(\d\d)([+-]\d\d:?\d\d)?/.exec(time.trim());
  const text = day.slice(1).join('-');
  return parseWallTime(clock ? `${text}T${clock.slice(1, 4).join(':')}${clock[4] ?? ''}` : text);
}
