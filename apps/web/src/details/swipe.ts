/** Minimum length of a swipe, in CSS pixels; it must also be twice as long as high. */
const MIN_LENGTH = 50;

let start: { readonly x: number; readonly y: number } | undefined;

/** The listeners of an element in which a swipe of one finger goes to the next or the previous picture. */
export function swipeListeners(step: (by: 1 | -1) => void) {
  return {
    begin: ({ touches }: TouchEvent) => {
      const [touch, second] = touches;
      // Two fingers, or a page that they have enlarged: the finger moves the picture.
      const isSwipe = touch !== undefined && second === undefined && (visualViewport?.scale ?? 1) <= 1;
      start = isSwipe ? { x: touch.clientX, y: touch.clientY } : undefined;
    },
    end: ({ changedTouches: [touch] }: TouchEvent) => {
      if (start === undefined || touch === undefined) return;
      const [x, y] = [touch.clientX - start.x, touch.clientY - start.y];
      start = undefined;
      if (Math.abs(x) >= MIN_LENGTH && Math.abs(x) > 2 * Math.abs(y)) step(x < 0 ? 1 : -1);
    },
  };
}
