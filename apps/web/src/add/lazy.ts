import { lazyPart } from '../lazy.ts';

export const ADDING = lazyPart(() => import('./part.ts'));
