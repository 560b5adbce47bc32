export type Direction = 'left' | 'right' | 'up' | 'down' | 'first' | 'last';

const DIRECTIONS: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
  Home: 'first',
  End: 'last',
};

export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/**
 * The target card of an arrow key; up and down go to the nearest card of the adjacent row.
 *
 * @param boxes the boxes of all cards in their order, row by row
 * @returns its index; `at` if there is no such card
 */
export function neighbourOf(boxes: readonly Box[], at: number, direction: Direction): number {
  if (direction === 'first') return 0;
  if (direction === 'last') return boxes.length - 1;
  if (direction === 'left') return Math.max(0, at - 1);
  if (direction === 'right') return Math.min(boxes.length - 1, at + 1);
  const from = boxes[at];
  if (from === undefined) return at;
  const isBeyond = (box: Box) => (direction === 'down' ? box.top >= from.bottom - 1 : box.bottom <= from.top + 1);
  const beyond = boxes.map((box, i) => ({ box, i })).filter(({ box }) => isBeyond(box));
  const edge =
    direction === 'down'
      ? Math.min(...beyond.map(({ box }) => box.top))
      : Math.max(...beyond.map(({ box }) => box.top));
  const middle = (box: Box) => (box.left + box.right) / 2;
  const distance = (box: Box) => Math.abs(middle(box) - middle(from));
  const row = beyond.filter(({ box }) => Math.abs(box.top - edge) < 2);
  return row.reduce(
    (best, one) => (distance(one.box) < distance(best.box) ? one : best),
    row[0] ?? { box: from, i: at },
  ).i;
}

/**
 * Moves the focus from one picture to another. If nothing has the focus, or only the results as a whole, an arrow key
 * moves it to the first picture in sight.
 *
 * @returns whether the key was handled
 */
export function moveFocus({ key, target }: KeyboardEvent): boolean {
  const way = DIRECTIONS[key];
  if (way === undefined) return false;
  if ((target as Element).matches('body, main')) {
    return key.startsWith('Arrow') && document.querySelector('dialog[open]') === null && focusFirst();
  }
  if (!(target as Element).matches('.results .card .picture')) return false;
  const pictures = shownPictures();
  const boxes = pictures.map((one) => one.getBoundingClientRect());
  const to = pictures[neighbourOf(boxes, pictures.indexOf(target as HTMLElement), way)];
  to?.focus();
  to?.closest('.card')?.scrollIntoView({ block: 'nearest' });
  return true;
}

/** In sight or below. @returns whether there is one */
export function focusFirst(): boolean {
  const first = shownPictures().find((one) => one.getBoundingClientRect().bottom > 0);
  first?.focus();
  return first !== undefined;
}

function shownPictures(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('.results .card .picture')].filter(
    (one) => one.getClientRects().length > 0,
  );
}
