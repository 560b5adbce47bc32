import { lazyPart } from './lazy.ts';

export const VIEWS = {
  groups: lazyPart(() => import('./review/part.ts')),
  changes: lazyPart(() => import('./changes/part.ts')),
  manage: lazyPart(() => import('./manage/part.ts')),
};
