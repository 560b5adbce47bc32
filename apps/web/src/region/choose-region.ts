import { makeElement } from '../make-element.ts';
import { TEXTS } from '../texts.ts';
import { MIDDLE, moveRegion, type Region, regionBetween, resizeRegion } from './region.ts';
import { REGION_TEXTS as T } from './texts.ts';

/** A step of the arrow keys. */
const STEP = 0.02;

type Point = { readonly x: number; readonly y: number };

/**
 * Asks for a part of a picture in a dialog, where a rectangle is drawn, moved and resized.
 *
 * @param show loads the picture into the image
 * @returns null if the user cancelled
 */
export function chooseRegion(
  show: (image: HTMLImageElement) => void,
  initial: Region = MIDDLE,
): Promise<Region | null> {
  let region = initial;
  const dialog = makeElement('dialog', { className: 'region' });
  dialog.setAttribute('aria-label', T.title);
  const form = makeElement('form', { method: 'dialog' });
  const canvas = makeElement('div', { className: 'region-canvas' });
  const image = makeElement('img', { alt: '', draggable: false });
  const box = makeElement('div', { className: 'region-box', tabIndex: 0 });
  box.setAttribute('role', 'group');
  box.setAttribute('aria-label', T.region);
  const handle = makeElement('span', { className: 'region-handle' });
  const shown = makeElement('output', { className: 'about' });
  const draw = () => {
    const percent = (value: number) => `${value * 100}%`;
    Object.assign(box.style, {
      left: percent(region.x),
      top: percent(region.y),
      width: percent(region.w),
      height: percent(region.h),
    });
    const [x, y, w, h] = [region.x, region.y, region.w, region.h].map((value) => Math.round(value * 100));
    shown.textContent = T.shown(x as number, y as number, w as number, h as number);
  };
  const change = (next: Region) => {
    region = next;
    draw();
  };
  box.addEventListener('keydown', (event) => {
    const by = ARROWS[event.key];
    if (by === undefined && event.key !== 'Enter') return;
    // After Enter, the button that opened the dialog has the focus again, and would open it again.
    event.preventDefault();
    if (by === undefined) form.requestSubmit();
    else change((event.shiftKey ? resizeRegion : moveRegion)(region, by[0] * STEP, by[1] * STEP));
  });
  // After a finger that left in motion, Chromium takes the next tap for the end of a scroll, and sends no click.
  canvas.addEventListener('touchstart', (event) => event.preventDefault());
  canvas.addEventListener('pointerdown', (down) => {
    // A second finger does nothing.
    if (!down.isPrimary) return;
    down.preventDefault();
    canvas.setPointerCapture(down.pointerId);
    const before = region;
    const start = pointIn(canvas, down);
    const isResizing = down.target === handle;
    const isMoving = down.target === box;
    const move = (event: PointerEvent) => {
      if (!event.isPrimary) return;
      const now = pointIn(canvas, event);
      if (isResizing) change(regionBetween(before, now));
      else if (isMoving) change(moveRegion(before, now.x - start.x, now.y - start.y));
      else change(regionBetween(start, now));
    };
    canvas.addEventListener('pointermove', move);
    canvas.addEventListener('lostpointercapture', () => canvas.removeEventListener('pointermove', move), {
      once: true,
    });
    box.focus({ preventScroll: true });
  });
  const cancel = makeElement('button', { type: 'button', textContent: TEXTS.page.cancel });
  const buttons = makeElement('div', { className: 'dialog-actions' });
  buttons.append(
    shown,
    makeElement('span', { className: 'spacer' }),
    cancel,
    makeElement('button', { className: 'primary', textContent: T.search }),
  );
  box.append(handle);
  canvas.append(image, box);
  form.append(
    makeElement('h2', { textContent: T.title }),
    makeElement('p', { className: 'about', textContent: T.about }),
    canvas,
    buttons,
  );
  dialog.append(form);
  document.body.append(dialog);
  show(image);
  draw();
  return new Promise((resolve) => {
    let answer: Region | null = null;
    form.addEventListener('submit', () => {
      answer = region;
    });
    cancel.addEventListener('click', () => dialog.close());
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(answer);
    });
    dialog.showModal();
    box.focus();
  });
}

const ARROWS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** A position in the picture, as shares of its width and height. */
function pointIn(canvas: HTMLElement, { clientX, clientY }: PointerEvent): Point {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  return { x: (clientX - left) / width, y: (clientY - top) / height };
}
