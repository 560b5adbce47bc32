/** Numbers, sizes and dates as the browser's language writes them. */

const NUMBER = new Intl.NumberFormat();
const ONE_DIGIT = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

export function number(value: number): string {
  return NUMBER.format(value);
}

/** A number of things: `1 picture`, `2,000 pictures`. */
export function count(value: number, one: string, several = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : several}`;
}

export function rate(perSecond: number): string {
  return `${perSecond < 10 ? ONE_DIGIT.format(perSecond) : number(Math.round(perSecond))}/s`;
}

/** Seconds as people say them: `40 s`, `3 min`, `2 h 5 min`. */
export function timeLeft(seconds: number): string {
  if (seconds < 60) return `${number(Math.ceil(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${number(minutes)} min` : `${number(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}
