import { AkinError } from '@akin/domain';
import type { SharedContext } from '../context.ts';

/** A GIF of one white pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64');

/**
 * Tests a content model before work starts that needs it. Analyzers that are unreachable or busy may come later.
 *
 * @throws AkinError conflict that says what to do if no analyzer can use it
 */
export async function requireAnalysis(
  model: string | undefined,
  { analyze, limits }: Pick<SharedContext, 'analyze' | 'limits'>,
  signal: AbortSignal,
): Promise<void> {
  const tooLate = new AbortController();
  // A signal of AbortSignal.timeout() that only AbortSignal.any() references may be garbage-collected too early.
  const timer = setTimeout(() => tooLate.abort(), limits.analyzeMilliseconds);
  const either = AbortSignal.any([signal, tooLate.signal]);
  try {
    await analyze({ bytes: PIXEL }, ['content'], { urgent: true, model, signal: either });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AkinError && error.code === 'conflict') throw error;
  } finally {
    clearTimeout(timer);
  }
}
