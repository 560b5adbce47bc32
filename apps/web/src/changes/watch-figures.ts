import { KeyError } from '@akin/client';
import type { Model } from '../model.ts';
import { figuresOf, readSample, type Sample } from './figures.ts';

const MILLISECONDS = 2_000;

/** Updates the metrics until the signal aborts, or akin refuses them because of the key. */
export async function watchFigures(model: Model, signal: AbortSignal): Promise<void> {
  let before: Sample | undefined;
  while (!signal.aborted) {
    const text = document.hidden ? undefined : await model.akin.metrics({ signal }).catch((error: unknown) => error);
    if (signal.aborted || text instanceof KeyError) return;
    // After any other error, the next request may succeed.
    if (typeof text === 'string') {
      const sample = readSample(text, performance.now());
      model.update({ figures: figuresOf(sample, before) });
      before = sample;
    }
    await new Promise((resolve) => setTimeout(resolve, MILLISECONDS));
  }
}
