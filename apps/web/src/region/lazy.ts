import { lazyPart } from '../lazy.ts';

export const REGIONS = lazyPart(() => import('./search-part.ts'));
