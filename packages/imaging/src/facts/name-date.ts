import { clockOf, type WallTime } from './dates.ts';

/** A date with separators may be of any time: people name scans so. Eight digits in a row may also be a number. */
const SEPARATED = /(?<!\d)(1[89]\d\d|20\d\d)([-_. ])(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)/;
const COMPACT = /(?<!\d)(199\d|20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=\D|$|[0-2]\d[0-5]\d[0-5]\d(?:\D|$))/;
/** What stands between date and time: a mark, or a word such as `at`, `um`, `à`. */
const TIME =
  /^(?:[-_T ]{0,3}|,? [\p{L}.]{1,5}(?: las)? )([01]\d|2[0-3])([-_.:h]?)([0-5]\d)\2m?([0-5]\d)(?:[._]?(\d{3}))?(?!\d)(?:[ _\u202f]?([AP])M)?/iu;
/** One digit for the hour, as in 9.41.00 AM. */
const SHORT_TIME = /^,? (?:\p{L}{1,5} )?(\d)([.:])([0-5]\d)\2([0-5]\d)()(?!\d)(?:[ _\u202f]?([AP])M)?/iu;
/** Milliseconds since 1970, as Facebook and some cameras of Android name files. */
const EPOCH = /^(?:FB_IMG_|IMG_|img_|image_|mmexport|wx_camera_|received_)?(1\d{12})(?!\d)/;

/**
 * The date in the name of a file, as phones, messengers and screenshots write it: `IMG-20201018-WA0007.jpg`,
 * `PXL_20240101_012612027.jpg`, `Screenshot 2024-03-01 at 10.11.12.png`. Undefined if there is none.
 *
 * @param name the name without its folder
 */
export function readNameDate(name: string): WallTime | undefined {
  const text = name.normalize('NFC').slice(0, 300);
  const epoch = EPOCH.exec(text);
  if (epoch) return { clock: Number(epoch[1]), offset: 0 };
  const separated = SEPARATED.exec(text);
  const compact = separated ?? COMPACT.exec(text);
  if (compact === null) return undefined;
  const [year, month, day] = (separated ? [1, 3, 4] : [1, 2, 3]).map((i) => Number(compact[i])) as [
    number,
    number,
    number,
  ];
  const rest = text.slice(compact.index + compact[0].length);
  const [, hour = 0, , minute = 0, second = 0, millisecond = 0, half] = TIME.exec(rest) ?? SHORT_TIME.exec(rest) ?? [];
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  const clock = clockOf(year, month, day, hours, Number(minute), Number(second), Number(millisecond));
  if (clock === undefined) return undefined;
  // Pixel phones name their files by UTC.
  return /^PXL_/.test(text) ? { clock, offset: 0 } : { clock };
}
