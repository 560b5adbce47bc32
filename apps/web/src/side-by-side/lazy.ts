import { lazyPart } from '../lazy.ts';

export const SIDE_BY_SIDE = lazyPart(() => import('./part.ts'));
