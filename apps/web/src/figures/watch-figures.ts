import type { Model } from '../model.ts';
import { figuresOf, readSample, type Sample } from './figures.ts';

const MILLISECONDS = 2_000;

/** Updates the metrics until the signal aborts. Shows none if the key does not allow it. */
export async function watchFigures(model: Model, signal: AbortSignal): Promise<void> {
  let before: Sample | undefined;
  while (!signal.aborted) {
    const text = document.hidden ? undefined : await model.akin.metrics({ signal }).catch(() => null);
    if (text === null || signal.aborted) return;
    if (text !== undefined) {
      const sample = readSample(text, performance.now());
      model.update({ figures: figuresOf(sample, before) });
      before = sample;
    }
    await new Promise((resolve) => setTimeout(resolve, MILLISECONDS));
  }
}
