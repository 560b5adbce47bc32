/** Minimum movement of the pointer for a drag, in CSS pixels; a shorter one is a click. */
const SLACK = 8;

/**
 * Selects pictures by dragging the mouse across them. On touch screens a drag scrolls; check boxes select there.
 *
 * @param begin is called when a drag starts; the function that it returns is called with the ids of both ends when the
 * pointer reaches another picture
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
    // The click at the end of a drag must not open a picture.
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
  // Otherwise the browser would drag the picture itself.
  addEventListener('dragstart', (event) => {
    if (cardAt(event.target as Element) !== undefined) event.preventDefault();
  });
}
