import { parentPort, workerData } from 'node:worker_threads';
import { AkinError } from '@akin/domain';
import { type Learned, type Lesson, learn } from './learn.ts';

/**
 * Messages from the thread. Errors are sent as values, because thrown errors lose their class and code between threads.
 */
export type News =
  | { readonly kind: 'progress'; readonly done: number; readonly all: number }
  | { readonly kind: 'skip'; readonly file: string; readonly why: string }
  | { readonly kind: 'learned'; readonly learned: Learned }
  | {
      readonly kind: 'failed';
      readonly error: Pick<AkinError, 'code' | 'message'>;
      readonly below: string | undefined;
    };

const tell = (news: News) => parentPort?.postMessage(news);

try {
  const learned = await learn(workerData as Lesson, {
    progress: (done, all) => tell({ kind: 'progress', done, all }),
    skip: (file, why) => tell({ kind: 'skip', file, why }),
  });
  tell({ kind: 'learned', learned });
} catch (error) {
  if (!(error instanceof AkinError)) throw error;
  const { code, message, cause } = error;
  tell({ kind: 'failed', error: { code, message }, below: (cause as Error | undefined)?.message });
}
