import { analysisJobId } from '@akin/contract';
import { type AnalysisTask, claimForAnalysis, failAnalysis, requeueAnalyses } from '@akin/store';
import type { Context } from './context.ts';
import { MOST_ATTEMPTS } from './retries.ts';
import { jobRefOf } from './sweep.ts';

/** Jobs that the queue holds at most, waiting at either end. What it does not hold waits in the database. */
const MOST_WAITING = 500;
/** Images that are claimed in one statement. */
const CHUNK = 100;
/** Within its request: the images of small requests go before those of large ones. */
const FIRST_BULK_POSITION = 20;

/** Gives analyzers the images that wait, as long as the queue has room. */
export async function dispatchAnalyses(context: Context): Promise<void> {
  while ((await waitingJobs(context)) + CHUNK <= MOST_WAITING) {
    const tasks = await claimForAnalysis(context.store, CHUNK);
    const added = await Promise.all(tasks.map((task) => dispatch(task, context)));
    if (tasks.length < CHUNK || added.includes(false)) return;
  }
}

async function waitingJobs({ queue }: Context): Promise<number> {
  const [analyze, analyzed] = await Promise.all([queue.counts('analyze'), queue.counts('analyzed')]);
  return analyze.waiting + analyze.delayed + analyzed.waiting + analyzed.delayed;
}

/** @returns false when the queue did not take it */
async function dispatch(task: AnalysisTask, { store, queue, log }: Context): Promise<boolean> {
  const { collection, position, attempt, image, modules } = task;
  if (attempt > MOST_ATTEMPTS) {
    const msg = `The analysis of this image was begun ${MOST_ATTEMPTS} times and never came to an end.`;
    await failAnalysis(store, task, { code: 'image-undecodable', msg });
    return true;
  }
  const ref = jobRefOf(task);
  try {
    await queue.add(
      'analyze',
      { ...ref, image, ...(modules && { modules: [...modules] }) },
      { id: analysisJobId(ref), priority: position < FIRST_BULK_POSITION ? 'interactive' : 'bulk' },
    );
    return true;
  } catch (err) {
    log.warn({ err, collection: collection.name }, 'the queue takes no analyses; they wait in the database');
    await requeueAnalyses(store, [task], { begun: false, at: new Date(Date.now() + 1_000) });
    return false;
  }
}
