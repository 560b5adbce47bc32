import type { Drawing } from '../drawing.ts';
import type { Random } from '../random.ts';
import type { Light } from './light.ts';

/** A kind of place that can be drawn at any time of day. */
export interface SceneKind {
  readonly name: string;
  readonly labels: readonly string[];
  /** Names of cities near such a place. */
  readonly cities: readonly string[];
  readonly draw: (drawing: Drawing, light: Light, random: Random) => void;
}
