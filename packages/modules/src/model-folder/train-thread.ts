import { parentPort, workerData } from 'node:worker_threads';
import { AkinError } from '@akin/domain';
import { measure, type TrainingInput, type TrainingResult } from './measure.ts';

/**
 * Messages from the thread. Errors are sent as values, because thrown errors lose their class and code between threads.
 */
export type ThreadMessage =
  | { readonly kind: 'progress'; readonly done: number; readonly all: number }
  | { readonly kind: 'skip'; readonly file: string; readonly why: string }
  | { readonly kind: 'learned'; readonly learned: TrainingResult }
  | {
      readonly kind: 'failed';
      readonly error: Pick<AkinError, 'code' | 'message'>;
      readonly below: string | undefined;
    };

const report = (message: ThreadMessage) => parentPort?.postMessage(message);

try {
  const learned = await measure(workerData as TrainingInput, {
    progress: (done, all) => report({ kind: 'progress', done, all }),
    skip: (file, why) => report({ kind: 'skip', file, why }),
  });
  report({ kind: 'learned', learned });
} catch (error) {
  if (!(error instanceof AkinError)) throw error;
  const { code, message, cause } = error;
  report({ kind: 'failed', error: { code, message }, below: (cause as Error | undefined)?.message });
}
