import { bag, sunglasses, umbrella, watch } from './accessories.ts';
import { hat, shirt } from './clothes.ts';
import { shoe } from './footwear.ts';
import { chair, clock, lamp, sofa } from './furniture.ts';
import type { ProductKind } from './kind.ts';
import { bottle, mug, teapot } from './kitchen.ts';
import { bicycle, camera, guitar, headphones, plant } from './leisure.ts';

/** All products of the demo's shop. */
export const PRODUCTS: readonly ProductKind[] = [
  shoe,
  shirt,
  bag,
  hat,
  watch,
  sunglasses,
  umbrella,
  mug,
  bottle,
  teapot,
  chair,
  sofa,
  lamp,
  clock,
  plant,
  bicycle,
  headphones,
  camera,
  guitar,
];
