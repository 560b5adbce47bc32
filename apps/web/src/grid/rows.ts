/** Square cards with names, or pictures with their own proportions in rows. */
export type Layout = 'squares' | 'rows';

/** A row of pictures: positions in the list, `from` up to but not including `to`. */
export interface Row {
  readonly from: number;
  readonly to: number;
  /** CSS pixels, without the gap. */
  readonly height: number;
}

/** What is drawn of a list of rows, and how much room the rest takes. */
export interface Drawn {
  readonly from: number;
  readonly to: number;
  /** CSS pixels that stand for the rows before and after. */
  readonly before: number;
  readonly behind: number;
}

/** A picture twice as wide as high, or the reverse, and all beyond, are cut: a panorama would make a row of its own. */
const RATIOS = [0.5, 2.5] as const;

/**
 * Pictures in rows that are as wide as the page, each with its own proportions. The last row keeps the height that was
 * wanted, unless it is full.
 *
 * @param ratios width by height of each picture
 * @param width of the page, `height` that a row should have about, `gap` between pictures; CSS pixels
 */
export function justify(ratios: readonly number[], width: number, height: number, gap: number): Row[] {
  const rows: Row[] = [];
  let from = 0;
  let sum = 0;
  for (const [i, ratio] of ratios.entries()) {
    sum += shownRatio(ratio);
    const room = width - gap * (i - from);
    if (sum * height < room) continue;
    rows.push({ from, to: i + 1, height: room / sum });
    from = i + 1;
    sum = 0;
  }
  if (from < ratios.length) rows.push({ from, to: ratios.length, height });
  return rows;
}

/** The proportions that a picture is shown with. */
export function shownRatio(ratio: number): number {
  return Math.min(RATIOS[1], Math.max(RATIOS[0], ratio));
}

/** Cards of one size in rows of a fixed number. */
export function tile(cards: number, columns: number, height: number): Row[] {
  return Array.from({ length: Math.ceil(cards / columns) }, (_, i) => ({
    from: i * columns,
    to: Math.min(cards, (i + 1) * columns),
    height,
  }));
}

/**
 * The rows that are within `top` to `bottom`, both measured from the upper edge of the first one.
 *
 * @param gap between rows; all in CSS pixels
 */
export function drawnRows(rows: readonly Row[], gap: number, top: number, bottom: number): Drawn {
  const heightOf = (some: readonly Row[]) => some.reduce((sum, { height }) => sum + height + gap, 0);
  let first = 0;
  let before = 0;
  for (const { height } of rows) {
    if (before + height >= top) break;
    before += height + gap;
    first += 1;
  }
  // Beyond the end there is still a row, so that a user who scrolls back sees something.
  if (first >= rows.length) {
    first = Math.max(0, rows.length - 1);
    before = heightOf(rows.slice(0, first));
  }
  let last = first;
  let edge = before;
  while (last < rows.length && (edge < bottom || last === first)) {
    edge += (rows[last]?.height ?? 0) + gap;
    last += 1;
  }
  return {
    from: rows[first]?.from ?? 0,
    to: rows[last - 1]?.to ?? 0,
    before,
    behind: heightOf(rows.slice(last)),
  };
}
