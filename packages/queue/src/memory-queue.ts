import { JOBS, type JobName, type JobPayload } from '@akin/contract';
import { backoffAfter, parsePayload, runAttempt } from './attempt.ts';
import { type AddOptions, FAILED_KEPT, type Job, type JobHandler, type Queue, type WorkOptions } from './queue.ts';

/** The jobs of one name. */
interface Lane {
  readonly waiting: { readonly interactive: Entry[]; readonly bulk: Entry[] };
  readonly delayed: Map<string, NodeJS.Timeout>;
  /** Ids of all jobs that are not finished. */
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
  readonly handle: (job: Omit<Job<JobName>, 'signal'>) => Promise<void>;
  readonly options: WorkOptions<JobName>;
  readonly running: Set<Promise<void>>;
  takesMore: boolean;
}

/** A queue within this process, for installations with a single process. Its jobs are lost when the process ends. */
export function createMemoryQueue(): Queue {
  const lanes = new Map<JobName, Lane>();
  let closed = false;

  const laneOf = (name: JobName): Lane => {
    const lane = lanes.get(name) ?? newLane();
    lanes.set(name, lane);
    return lane;
  };

  function fill(name: JobName, lane: Lane): void {
    for (const worker of lane.workers) {
      while (worker.running.size < (worker.takesMore ? worker.options.concurrency : 1)) {
        const entry = lane.waiting.interactive.shift() ?? lane.waiting.bulk.shift();
        if (entry === undefined) return;
        const running = run(name, lane, worker, entry).finally(() => {
          worker.running.delete(running);
          fill(name, lane);
        });
        worker.running.add(running);
      }
    }
  }

  async function run(name: JobName, lane: Lane, worker: Worker, entry: Entry): Promise<void> {
    const { id, payload, attempt } = entry;
    try {
      // Start the job only after the call that added it has returned.
      await null;
      await worker.handle({ id, payload: payload as JobPayload<JobName>, attempt });
      lane.ids.delete(id);
    } catch (error) {
      if (attempt < JOBS[name].attempts) {
        const again = () => {
          lane.delayed.delete(id);
          lane.waiting[entry.priority].push({ ...entry, attempt: attempt + 1 });
          fill(name, lane);
        };
        if (!closed) lane.delayed.set(id, setTimeout(again, backoffAfter(name, attempt)));
        return;
      }
      lane.failed.add(id);
      for (const oldest of lane.failed) {
        if (lane.failed.size <= FAILED_KEPT) break;
        lane.failed.delete(oldest);
        lane.ids.delete(oldest);
      }
      worker.options.onFailed?.({ id, payload: payload as JobPayload<JobName> }, error as Error);
    }
  }

  async function stop(lane: Lane, worker: Worker): Promise<void> {
    lane.workers.delete(worker);
    await Promise.all(worker.running);
  }

  const counts = (name: JobName) => {
    const { waiting, delayed, workers, failed } = laneOf(name);
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
      const lane = laneOf(name);
      if (lane.ids.has(id)) return;
      lane.ids.add(id);
      lane.waiting[priority].push({ id, payload: checked, priority, attempt: 1 });
      fill(name, lane);
    },
    work<Name extends JobName>(name: Name, handler: JobHandler<Name>, options: WorkOptions<Name>) {
      if (closed) throw new Error('The queue is closed');
      const lane = laneOf(name);
      const handle = (job: Omit<Job<JobName>, 'signal'>) =>
        runAttempt(name, handler, job as unknown as Omit<Job<Name>, 'signal'>);
      const worker: Worker = {
        handle,
        options: options as unknown as WorkOptions<JobName>,
        running: new Set(),
        takesMore: true,
      };
      lane.workers.add(worker);
      fill(name, lane);
      return {
        takeMore(more) {
          worker.takesMore = more;
          if (lane.workers.has(worker)) fill(name, lane);
        },
        [Symbol.asyncDispose]: () => stop(lane, worker),
      };
    },
    counts: async (name) => counts(name),
    async alive(name, ids) {
      const lane = laneOf(name);
      return new Set(ids.filter((id) => lane.ids.has(id) && !lane.failed.has(id)));
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      for (const lane of lanes.values()) {
        for (const timer of lane.delayed.values()) clearTimeout(timer);
        lane.delayed.clear();
        await Promise.all([...lane.workers].map((worker) => stop(lane, worker)));
      }
    },
  };
}

function newLane(): Lane {
  return {
    waiting: { interactive: [], bulk: [] },
    delayed: new Map(),
    ids: new Set(),
    failed: new Set(),
    workers: new Set(),
  };
}
