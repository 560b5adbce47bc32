export { compareWith } from './compare-with.ts';
export { sideBySideView } from './side-by-side-view.ts';
