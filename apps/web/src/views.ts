import { lazyPart } from './lazy.ts';

/** The views besides the results. */
export const VIEWS = {
  groups: lazyPart(() => import('./review/part.ts')),
  changes: lazyPart(() => import('./changes/part.ts')),
  manage: lazyPart(() => import('./manage/part.ts')),
};
