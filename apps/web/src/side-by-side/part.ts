/** Two rankings of one query side by side, which is loaded when it is first opened. */
export { compareWith } from './compare-with.ts';
export { sideBySideView } from './side-by-side-view.ts';
