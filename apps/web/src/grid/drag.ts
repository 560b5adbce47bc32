/** CSS pixels that a pointer moves by before it means more than a click. */
const SLACK = 8;

/**
 * Selects by dragging the mouse from one picture to another. A finger scrolls, so it has the boxes.
 *
 * @param begin is called when a drag begins; what it returns, with the ids of both ends whenever the pointer reaches
 *   another picture
 */
export function watchDrag(begin: () => (from: string, to: string) => void): void {
  let start: { readonly id: string; readonly x: number; readonly y: number } | undefined;
  let select: ((from: string, to: string) => void) | undefined;
  let reached = '';
  const cardAt = (element: Element | null) => element?.closest<HTMLElement>('.results .card')?.dataset.id;
  addEventListener('pointerdown', ({ target, pointerType, button, clientX, clientY }) => {
    const id = (target as Element).closest('.card .picture') ? cardAt(target as Element) : undefined;
    start = id !== undefined && pointerType === 'mouse' && button === 0 ? { id, x: clientX, y: clientY } : undefined;
    select = undefined;
  });
  addEventListener('pointermove', ({ clientX, clientY }) => {
    if (start === undefined) return;
    if (select === undefined && Math.hypot(clientX - start.x, clientY - start.y) < SLACK) return;
    const id = cardAt(document.elementFromPoint(clientX, clientY));
    if (select === undefined) select = begin();
    else if (id === reached) return;
    reached = id ?? reached;
    select(start.id, id ?? start.id);
  });
  const end = () => {
    // The click that ends a drag opens nothing.
    if (select !== undefined) {
      const swallow = (event: Event) => event.stopPropagation();
      addEventListener('click', swallow, { capture: true, once: true });
      setTimeout(() => removeEventListener('click', swallow, { capture: true }));
    }
    start = undefined;
    select = undefined;
  };
  addEventListener('pointerup', end);
  addEventListener('pointercancel', end);
  // The browser would carry the picture itself.
  addEventListener('dragstart', (event) => {
    if (cardAt(event.target as Element) !== undefined) event.preventDefault();
  });
}
