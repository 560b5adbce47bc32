import type { Drawing } from '../drawing.ts';
import type { Random } from '../random.ts';

/** The appearance of one article. */
export interface Appearance {
  readonly main: string;
  readonly accent: string;
  /** Index into the kind's variants. */
  readonly variant: number;
  /** Generator for small differences between articles. */
  readonly random: Random;
}

/** A kind of product that can be drawn in many colours and a few shapes. */
export interface ProductKind {
  readonly name: string;
  readonly category: string;
  readonly labels: readonly string[];
  /** Names of the shapes. */
  readonly variants: readonly string[];
  /** Lowest and highest price. */
  readonly price: readonly [number, number];
  /** The product hangs or lies flat: no shadow on the ground. */
  readonly floating?: true;
  /** Draws into the square 0…480: centred at x 240, standing on y 400. */
  readonly draw: (drawing: Drawing, look: Appearance) => void;
}
