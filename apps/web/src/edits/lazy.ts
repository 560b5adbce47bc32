import { lazyPart } from '../lazy.ts';

export const EDITS = lazyPart(() => import('./part.ts'));
