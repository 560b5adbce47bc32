/** Square cards with names, or rows of pictures with their own aspect ratios. */
export type Layout = 'squares' | 'rows';

/** A row of pictures: indexes from `from` to `to`, exclusive. A heading is a row without pictures. */
export interface Row {
  readonly from: number;
  readonly to: number;
  readonly height: number;
}

export interface RenderedRange {
  readonly from: number;
  readonly to: number;
  /** Height of the rows before and after, in CSS pixels. */
  readonly before: number;
  readonly spaceAfter: number;
}

/** Minimum and maximum aspect ratio; beyond these, pictures are cropped, because a panorama would fill a whole row. */
const RATIOS = [0.5, 2.5] as const;

/**
 * Arranges pictures in rows as wide as the page, each with its own aspect ratio. The last row keeps the target height,
 * unless it is full.
 *
 * @param ratios width / height of each picture
 * @param width the width of the page, in CSS pixels like the others: `height` is the target height of a row, `gap` the
 *   space between pictures
 */
export function justify(ratios: readonly number[], width: number, height: number, gap: number): Row[] {
  const rows: Row[] = [];
  let from = 0;
  let sum = 0;
  for (const [i, ratio] of ratios.entries()) {
    sum += shownRatio(ratio);
    const space = width - gap * (i - from);
    if (sum * height < space) continue;
    rows.push({ from, to: i + 1, height: space / sum });
    from = i + 1;
    sum = 0;
  }
  if (from < ratios.length) rows.push({ from, to: ratios.length, height });
  return rows;
}

/**
 * Arranges lists that have headings one below the other.
 *
 * @param starts the indexes of the first picture of each list, ascending
 * @param height of a heading, in CSS pixels
 * @param arrange arranges a list without a heading; its indexes count from 0
 */
export function withHeadings(
  pictures: number,
  starts: readonly number[],
  height: number,
  arrange: (from: number, to: number) => Row[],
): Row[] {
  const lists = starts[0] === 0 ? starts : [0, ...starts];
  return lists.flatMap((from, i) => {
    const rows = arrange(from, lists[i + 1] ?? pictures).map((row) => ({
      ...row,
      from: row.from + from,
      to: row.to + from,
    }));
    return starts.includes(from) ? [{ from, to: from, height }, ...rows] : rows;
  });
}

export function shownRatio(ratio: number): number {
  return Math.min(RATIOS[1], Math.max(RATIOS[0], ratio));
}

export function tile(cards: number, columns: number, height: number): Row[] {
  return Array.from({ length: Math.ceil(cards / columns) }, (_, i) => ({
    from: i * columns,
    to: Math.min(cards, (i + 1) * columns),
    height,
  }));
}

/**
 * The rows between `top` and `bottom`, both relative to the upper edge of the first row.
 *
 * @param gap between rows; all in CSS pixels
 */
export function renderedRange(rows: readonly Row[], gap: number, top: number, bottom: number): RenderedRange {
  const heightOf = (some: readonly Row[]) => some.reduce((sum, { height }) => sum + height + gap, 0);
  let first = 0;
  let before = 0;
  for (const { height } of rows) {
    if (before + height >= top) break;
    before += height + gap;
    first += 1;
  }
  // Below the end the last row is still rendered, so that a user who scrolls back sees something.
  if (first >= rows.length) {
    first = Math.max(0, rows.length - 1);
    before = heightOf(rows.slice(0, first));
  }
  const isHeading = (row: Row | undefined) => row !== undefined && row.from === row.to;
  // A heading is rendered with the row below it.
  const above = rows[first - 1];
  if (above !== undefined && isHeading(above)) {
    first -= 1;
    before -= above.height + gap;
  }
  let last = first;
  let edge = before;
  while (last < rows.length && (edge < bottom || last === first || isHeading(rows[last - 1]))) {
    edge += (rows[last]?.height ?? 0) + gap;
    last += 1;
  }
  return {
    from: rows[first]?.from ?? 0,
    to: rows[last - 1]?.to ?? 0,
    before,
    spaceAfter: heightOf(rows.slice(last)),
  };
}
