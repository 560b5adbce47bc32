import { AkinError } from '@akin/domain';
import { Piscina } from 'piscina';
import type { TextAnalysis, TextReply, TextTask } from './text-encoder-worker.ts';
import { THREAD_ARGUMENTS } from './thread-arguments.ts';

/**
 * Describes texts by the text encoder of a model, in a separate thread, because the text encoder is as large as the
 * image tower.
 */
export interface TextEncoderPool extends AsyncDisposable {
  /**
   * @throws {AkinError} the error of the thread; unavailable when the thread crashed; the signal's reason when aborted.
   */
  describe(text: string, signal: AbortSignal): Promise<TextAnalysis>;
}

const WORKER = new URL('../../dist/analyzer/text-encoder-worker.js', import.meta.url);

/** The thread starts with the first text and keeps the tower in memory. */
export function createTextEncoderPool(folder: string, name: string): TextEncoderPool {
  const pool = new Piscina<TextTask, TextReply>({
    filename: WORKER.href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    execArgv: THREAD_ARGUMENTS,
  });
  // If an idle thread crashes, the next text starts another one. Without a listener, the event would crash the process.
  pool.on('error', () => {});
  return {
    async describe(text, signal) {
      signal.throwIfAborted();
      let reply: TextReply;
      try {
        reply = await pool.run({ text, folder, name }, { signal });
      } catch (cause) {
        signal.throwIfAborted();
        throw new AkinError('unavailable', 'The words of this search could not be read: try again.', { cause });
      }
      if ('error' in reply)
        throw new AkinError(reply.error.code, reply.error.message, { details: reply.error.details });
      return reply.analysis;
    },
    async [Symbol.asyncDispose]() {
      await pool.destroy();
    },
  };
}
