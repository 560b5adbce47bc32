import { oldTown, skyline } from './city.ts';
import type { SceneKind } from './kind.ts';
import { balloons, cabin, desert, fields, forest, mountains } from './nature.ts';
import { beach, lake, lighthouse } from './water.ts';

/** The places of the demo. */
export const SCENES: readonly SceneKind[] = [
  beach,
  mountains,
  skyline,
  forest,
  desert,
  fields,
  lake,
  lighthouse,
  balloons,
  cabin,
  oldTown,
];
