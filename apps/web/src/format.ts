const NUMBER = new Intl.NumberFormat();
const ONE_DIGIT = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent' });

const unit = (unit: string, maximumFractionDigits: number) =>
  new Intl.NumberFormat(undefined, {
    style: 'unit',
    unit,
    unitDisplay: unit === 'byte' ? 'long' : 'short',
    maximumFractionDigits,
  });
const BYTES = unit('byte', 0);
const KILOBYTES = unit('kilobyte', 0);
const MEGABYTES = unit('megabyte', 1);
const MILLISECONDS = unit('millisecond', 0);
const GIGABYTES = unit('gigabyte', 1);
// Times are stored in UTC. The time of a photo is what the clock showed where it was taken.
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

export function number(value: number): string {
  return NUMBER.format(value);
}

/** `1 picture`, `2,000 pictures` */
export function count(value: number, one: string, several = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : several}`;
}

/** @param value 0 to 1 */
export function share(value: number): string {
  return PERCENT.format(value);
}

export function rate(perSecond: number): string {
  return `${perSecond < 10 ? ONE_DIGIT.format(perSecond) : number(Math.round(perSecond))}/s`;
}

/** `40 s`, `3 min`, `2 h 5 min` */
export function timeLeft(seconds: number): string {
  if (seconds < 60) return `${number(Math.ceil(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${number(minutes)} min` : `${number(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

/** `512 bytes`, `2.4 MB` */
export function bytes(count: number): string {
  if (count < 1_000) return BYTES.format(count);
  if (count < 1_000_000) return KILOBYTES.format(count / 1_000);
  return count < 1_000_000_000 ? MEGABYTES.format(count / 1_000_000) : GIGABYTES.format(count / 1_000_000_000);
}

export function milliseconds(count: number): string {
  return MILLISECONDS.format(count);
}

export function moment(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return iso.includes('T00:00:00') ? DAY.format(date) : MOMENT.format(date);
}

/** The zone of a clock, from what it showed and the moment: ` (UTC+02:00)`; empty if the moment is unknown. */
export function zone(clock: string, moment: unknown): string {
  const minutes = (Date.parse(clock) - Date.parse(String(moment))) / 60_000;
  if (!Number.isInteger(minutes)) return '';
  const part = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return ` (UTC${minutes < 0 ? '−' : '+'}${part(Math.abs(minutes) / 60)}:${part(Math.abs(minutes) % 60)})`;
}

export function day(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? iso : DAY.format(date);
}
