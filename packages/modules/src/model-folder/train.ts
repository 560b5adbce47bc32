import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AkinError } from '@akin/domain';
import '../network/no-telemetry.ts';
import { CALIBRATION_FILE } from './files.ts';
import type { TrainingInput, TrainingListener, TrainingResult } from './measure.ts';
import type { ThreadMessage } from './train-thread.ts';

export interface TrainingConfig extends TrainingInput, Partial<TrainingListener> {
  readonly signal?: AbortSignal;
}

export type Trained = Pick<TrainingResult, 'model' | 'pictures'>;

const THREAD_FILE = new URL('../../dist/model-folder/train-thread.js', import.meta.url);

/**
 * Calibrates the scores of a content model on the user's pictures. The same pictures and model give the same file,
 * which is written into the folder of the model. The work runs in a thread, so that the
 * event loop stays free.
 *
 * @throws {AkinError} bad-request when the model cannot be opened, or there are too few pictures
 * @throws the reason of the signal
 */
export async function trainContentModel(config: TrainingConfig): Promise<Trained> {
  const { folder, signal } = config;
  const { calibration, ...learned } = await learnInThread(config);
  signal?.throwIfAborted();
  await replaceFile(join(folder, CALIBRATION_FILE), calibration);
  return learned;
}

async function learnInThread({ signal, progress, skip, ...input }: TrainingConfig): Promise<TrainingResult> {
  signal?.throwIfAborted();
  const thread = new Worker(THREAD_FILE, { workerData: input satisfies TrainingInput, execArgv: [] });
  let stop = () => {};
  try {
    return await new Promise((resolve, reject) => {
      stop = () => reject(signal?.reason);
      signal?.addEventListener('abort', stop);
      thread.on('error', reject);
      thread.on('exit', () => reject(new Error('The thread of the training ended.')));
      thread.on('message', (news: ThreadMessage) => {
        if (news.kind === 'progress') progress?.(news.done, news.all);
        else if (news.kind === 'skip') skip?.(news.file, news.why);
        else if (news.kind === 'learned') resolve(news.learned);
        else reject(new AkinError(news.error.code, news.error.message, { cause: news.below && new Error(news.below) }));
      });
    });
  } finally {
    signal?.removeEventListener('abort', stop);
    await thread.terminate();
  }
}

/** Writes a file under a temporary name first, so that it is never incomplete. */
async function replaceFile(file: string, text: string): Promise<void> {
  const partial = `${file}.part`;
  try {
    await writeFile(partial, text);
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
