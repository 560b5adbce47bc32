import { JOBS, type JobName, type JobPayload } from '@akin/contract';
import { backoffAfter, parsePayload, runAttempt } from './attempt.ts';
import { type AddOptions, type Job, type JobHandler, MAX_FAILED_JOBS, type Queue, type WorkOptions } from './queue.ts';

interface Jobs {
  readonly waiting: { readonly interactive: Entry[]; readonly bulk: Entry[] };
  readonly delayed: Map<string, NodeJS.Timeout>;
  /** Ids of all jobs that wait, run, are delayed or are kept as failed. */
  readonly ids: Set<string>;
  /** Ids of jobs that failed permanently, oldest first. */
  readonly failed: Set<string>;
  readonly workers: Set<Worker>;
}

interface Entry {
  readonly id: string;
  readonly payload: unknown;
  readonly priority: 'interactive' | 'bulk';
  readonly attempt: number;
}

interface Worker {
  readonly handle: (job: Job<JobName>) => Promise<void>;
  readonly options: WorkOptions<JobName>;
  readonly running: Set<Promise<void>>;
  isConcurrent: boolean;
}

/** A queue within this process, for installations with a single process. Its jobs are lost when the process ends. */
export function createMemoryQueue(): Queue {
  const allJobs = new Map<JobName, Jobs>();
  let closed = false;

  const jobsOf = (name: JobName): Jobs => {
    const jobs = allJobs.get(name) ?? newJobs();
    allJobs.set(name, jobs);
    return jobs;
  };

  function fill(name: JobName, jobs: Jobs): void {
    for (const worker of jobs.workers) {
      while (worker.running.size < (worker.isConcurrent ? worker.options.concurrency : 1)) {
        const entry = jobs.waiting.interactive.shift() ?? jobs.waiting.bulk.shift();
        if (entry === undefined) return;
        const running = run(name, jobs, worker, entry).finally(() => {
          worker.running.delete(running);
          fill(name, jobs);
        });
        worker.running.add(running);
      }
    }
  }

  async function run(name: JobName, jobs: Jobs, worker: Worker, entry: Entry): Promise<void> {
    const { id, payload, attempt } = entry;
    try {
      // Start the job only after the call that added it has returned.
      await null;
      await worker.handle({ id, payload: payload as JobPayload<JobName>, attempt });
      jobs.ids.delete(id);
    } catch (error) {
      if (attempt < JOBS[name].attempts) {
        const again = () => {
          jobs.delayed.delete(id);
          jobs.waiting[entry.priority].push({ ...entry, attempt: attempt + 1 });
          fill(name, jobs);
        };
        if (!closed) jobs.delayed.set(id, setTimeout(again, backoffAfter(name, attempt)));
        return;
      }
      jobs.failed.add(id);
      for (const oldest of jobs.failed) {
        if (jobs.failed.size <= MAX_FAILED_JOBS[name]) break;
        jobs.failed.delete(oldest);
        jobs.ids.delete(oldest);
      }
      worker.options.onFailed?.({ id, payload: payload as JobPayload<JobName> }, error as Error, false);
    }
  }

  async function stop(jobs: Jobs, worker: Worker): Promise<void> {
    jobs.workers.delete(worker);
    await Promise.all(worker.running);
  }

  const counts = (name: JobName) => {
    const { waiting, delayed, workers, failed } = jobsOf(name);
    return {
      waiting: waiting.interactive.length + waiting.bulk.length,
      delayed: delayed.size,
      active: [...workers].reduce((sum, { running }) => sum + running.size, 0),
      failed: failed.size,
    };
  };

  return {
    async add<Name extends JobName>(name: Name, payload: JobPayload<Name>, options: AddOptions) {
      const checked = parsePayload(name, payload);
      if (closed) throw new Error('The queue is closed');
      const { id, priority = 'interactive' } = options;
      const jobs = jobsOf(name);
      if (jobs.ids.has(id)) return;
      jobs.ids.add(id);
      jobs.waiting[priority].push({ id, payload: checked, priority, attempt: 1 });
      fill(name, jobs);
    },
    work<Name extends JobName>(name: Name, handler: JobHandler<Name>, options: WorkOptions<Name>) {
      if (closed) throw new Error('The queue is closed');
      const jobs = jobsOf(name);
      const handle = (job: Job<JobName>) => runAttempt(name, handler, job as unknown as Job<Name>);
      const worker: Worker = {
        handle,
        options: options as unknown as WorkOptions<JobName>,
        running: new Set(),
        isConcurrent: true,
      };
      jobs.workers.add(worker);
      fill(name, jobs);
      return {
        allowConcurrency(more) {
          worker.isConcurrent = more;
          if (jobs.workers.has(worker)) fill(name, jobs);
        },
        [Symbol.asyncDispose]: () => stop(jobs, worker),
      };
    },
    counts: async (name) => counts(name),
    async liveJobs(name, ids) {
      const jobs = jobsOf(name);
      return new Set(ids.filter((id) => jobs.ids.has(id) && !jobs.failed.has(id)));
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      for (const jobs of allJobs.values()) {
        for (const timer of jobs.delayed.values()) clearTimeout(timer);
        jobs.delayed.clear();
        await Promise.all([...jobs.workers].map((worker) => stop(jobs, worker)));
      }
    },
  };
}

function newJobs(): Jobs {
  return {
    waiting: { interactive: [], bulk: [] },
    delayed: new Map(),
    ids: new Set(),
    failed: new Set(),
    workers: new Set(),
  };
}
