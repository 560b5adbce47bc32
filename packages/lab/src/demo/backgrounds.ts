import { type Drawing, darker, lighter, mix } from './drawing.ts';
import type { Random } from './random.ts';

/** The background of a product. */
export type Background = 'white' | 'tint' | 'studio' | 'room';

/** Soft background colours that do not compete with the product. */
export const TINTS = ['#f6e7dc', '#e4eef5', '#ece6f4', '#e6f1e6', '#fbf0d4', '#f7e1e4', '#dfeeee', '#ebe7e1'] as const;

/**
 * Fills the square with a background and adds a shadow of the given half width below an object that stands at y 400.
 */
export function drawBackground(
  d: Drawing,
  background: Background,
  tint: string,
  shadow: number | null,
  random: Random,
): void {
  const { width: right, height: bottom } = d;
  if (background === 'white') {
    d.rect(0, 0, right, bottom, '#ffffff');
  } else if (background === 'tint') {
    d.rect(0, 0, right, bottom, tint);
  } else if (background === 'studio') {
    d.rect(0, 0, right, bottom, d.radial(0.5, 0.42, 0.75, lighter(tint, 0.65), tint, darker(tint, 0.16)));
  } else {
    const floor = random.pick(['#d8b48a', '#c69c6d', '#e2d6c6', '#b98d66', '#cfc7bd']);
    d.rect(0, 0, right, 352, d.vertical(mix(tint, '#ffffff', 0.2), tint));
    d.rect(0, 352, right, bottom - 352, d.vertical(floor, darker(floor, 0.22)));
    for (const y of [378, 412, 454]) d.line(`M0 ${y} L${right} ${y}`, darker(floor, 0.2), 1.5, 'opacity="0.5"');
    d.rect(0, 340, right, 12, mix(tint, '#ffffff', 0.75));
    d.rect(0, 350, right, 3, darker(tint, 0.3), 0, 'opacity="0.4"');
    if (random.chance(0.5)) {
      d.path('M300 0 L430 0 L300 340 L170 340 Z', '#fffbe6', 'opacity="0.28"');
      d.path('M450 0 L480 0 L480 80 L380 340 L330 340 Z', '#fffbe6', 'opacity="0.22"');
    }
  }
  if (shadow !== null) d.shadow(240, 402, shadow, 20, background === 'white' ? 0.3 : 0.42);
}
