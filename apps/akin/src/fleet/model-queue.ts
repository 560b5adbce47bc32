import { type ModelSet, modelSetText } from '@akin/modules/vectors';
import type { JobCounts, Queue, SharedQueue, WorkerHandle } from '@akin/queue';

type Models = Pick<ModelSet, 'models'>;

/** If one of several queues contains this many jobs, its analyzers are too slow: further jobs wait in the database. */
const MAX_QUEUED_JOBS = 200;

/**
 * One queue for a fleet whose collections have different content models. It consists of a queue for each model: a job
 * that names a model waits there for an analyzer that has it.
 *
 * @param own the models of jobs that name none
 * @param open opens the queue of the processes with given models, as {@link modelSetText} writes them
 * @param others models whose jobs this process handles too
 */
export async function openModelQueue(
  own: Models,
  open: (models: string) => Promise<SharedQueue>,
  others: readonly Models[] = [],
): Promise<SharedQueue> {
  const queues = new Map<string, Promise<SharedQueue>>();
  const full = new Set<string>();
  const workers: ((queue: Queue) => void)[] = [];
  const modelsWith = (model: string | undefined): Models =>
    model === undefined ? own : { models: new Map([...own.models, ['content', model]]) };

  function queueOf(models: Models): Promise<SharedQueue> {
    const key = modelSetText(models);
    const known = queues.get(key);
    if (known !== undefined) return known;
    const opening = open(key).then((queue) => {
      for (const work of workers) work(queue);
      return queue;
    });
    queues.set(key, opening);
    opening.catch(() => queues.delete(key));
    return opening;
  }
  const all = async (): Promise<[string, SharedQueue][]> =>
    Promise.all([...queues].map(async ([models, queue]) => [models, await queue] as [string, SharedQueue]));

  const close = async () => {
    const opened = await Promise.allSettled(queues.values());
    await Promise.all(opened.map((one) => (one.status === 'fulfilled' ? one.value[Symbol.asyncDispose]() : undefined)));
  };

  try {
    for (const one of [own, ...others]) await queueOf(one);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async add(name, payload, options) {
      await (await queueOf(modelsWith(payload.model))).add(name, payload, options);
    },
    work(name, handler, options) {
      const working: WorkerHandle[] = [];
      let takesMore = true;
      const has = new Set<Queue>();
      const work = (queue: Queue) => {
        if (has.has(queue)) return;
        has.add(queue);
        const one = queue.work(name, handler, options);
        one.allowConcurrency(takesMore);
        working.push(one);
      };
      workers.push(work);
      void all().then((opened) => {
        for (const [, queue] of opened) work(queue);
      });
      return {
        allowConcurrency(more) {
          takesMore = more;
          for (const one of working) one.allowConcurrency(more);
        },
        async [Symbol.asyncDispose]() {
          workers.splice(workers.indexOf(work), 1);
          await all();
          await Promise.all(working.map((one) => one[Symbol.asyncDispose]()));
        },
      };
    },
    async counts(name) {
      const opened = await all();
      const counts = await Promise.all(opened.map(([, queue]) => queue.counts(name)));
      const sum = { waiting: 0, delayed: 0, active: 0, failed: 0 };
      for (const [i, count] of counts.entries()) {
        const [models] = opened[i] as [string, SharedQueue];
        const isFull = name === 'analyze' && opened.length > 1 && count.waiting >= MAX_QUEUED_JOBS;
        if (name === 'analyze') full[isFull ? 'add' : 'delete'](models);
        // A queue without a handler does not block the jobs after it.
        for (const key of Object.keys(sum) as (keyof JobCounts)[]) if (!isFull) sum[key] += count[key];
      }
      return sum;
    },
    isFull: (model) => full.has(modelSetText(modelsWith(model))),
    async liveJobs(name, ids, models = new Set()) {
      // Another process may have added the jobs.
      for (const model of models) await queueOf(modelsWith(model));
      const found = await Promise.all((await all()).map(([, queue]) => queue.liveJobs(name, ids)));
      return new Set(found.flatMap((some) => [...some]));
    },
    async announce() {
      for (const [, queue] of await all()) await queue.announce();
    },
    announcedContracts: async () => (await queueOf(own)).announcedContracts(),
    async workers(name) {
      const found = await Promise.all((await all()).map(([, queue]) => queue.workers(name)));
      return [...new Map(found.flat().map((worker) => [worker.name, worker])).values()];
    },
    [Symbol.asyncDispose]: close,
  };
}
