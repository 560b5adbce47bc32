import type { JobName, JobPayload } from '@akin/contract';

/** One attempt at a job. */
export interface Job<Name extends JobName> {
  readonly id: string;
  readonly payload: JobPayload<Name>;
  /** Starts at 1. */
  readonly attempt: number;
}

export type JobHandler<Name extends JobName> = (job: Job<Name>) => Promise<void>;

export interface AddOptions {
  /**
   * Letters, digits, `-`, `_` and `.`, but not digits only. While a job with this id waits, runs or has failed, adding
   * it again does nothing. The id is free again when its job is finished.
   */
  readonly id: string;
  /** `interactive` jobs (the default) run before all `bulk` jobs. */
  readonly priority?: 'interactive' | 'bulk';
}

export interface WorkOptions<Name extends JobName> {
  readonly concurrency: number;
  /**
   * Called with each job that failed permanently.
   *
   * @param crashed whether it crashed the processes that took it; otherwise its handler threw at its last attempt
   */
  readonly onFailed?: (job: Pick<Job<Name>, 'id' | 'payload'>, error: Error, crashed: boolean) => void;
}

/** Handles jobs until disposed. Disposing takes no more jobs and waits for the running ones. */
export interface WorkerHandle extends AsyncDisposable {
  /**
   * If true, the worker takes as many jobs as `concurrency` allows; if false, it takes none while it still has one,
   * which leaves them to other workers. A job requested earlier may still arrive. The change takes effect when a job
   * ends.
   */
  allowConcurrency(more: boolean): void;
}

/** How many jobs of a name are in each state. */
export interface JobCounts {
  /** Ready to run. */
  readonly waiting: number;
  /** Waiting for their next attempt. */
  readonly delayed: number;
  readonly active: number;
  /** Failed permanently; the last ones are kept. */
  readonly failed: number;
}

/**
 * Delivers jobs of the catalogue (JOBS of the contract) to their handlers: each at least once, ordered by priority and
 * then by arrival. Jobs may be lost with the process or with Redis. `add` has no limit: callers check `counts` first
 * and leave the rest in the database, which stores it more safely.
 */
export interface Queue extends AsyncDisposable {
  /**
   * @throws Error when the payload does not match the catalogue, the queue is closed, or its server does not answer.
   * The job was then probably not added.
   */
  add<Name extends JobName>(name: Name, payload: JobPayload<Name>, options: AddOptions): Promise<void>;
  /**
   * Starts to handle the jobs of a name. If the handler throws, the job is tried again with growing delays, up to the
   * number of attempts in the catalogue.
   */
  work<Name extends JobName>(name: Name, handler: JobHandler<Name>, options: WorkOptions<Name>): WorkerHandle;
  counts(name: JobName): Promise<JobCounts>;
  /** Whether enough jobs for a content model are waiting, so that other jobs go first. Without this method: never. */
  isFull?(model: string | undefined): boolean;
  /**
   * Returns those of the given ids whose jobs wait, run or will be tried again. The other jobs are finished, failed
   * permanently, or were lost.
   *
   * @param models the content models of the jobs, for a queue that keeps the jobs of each model apart. Without them, it
   * finds only jobs for models that it has already handled.
   */
  liveJobs(
    name: JobName,
    ids: readonly string[],
    models?: ReadonlySet<string | undefined>,
  ): Promise<ReadonlySet<string>>;
}

/** How many failed jobs are kept. A job with a result has some 40 kB, and the server may have little memory. */
export const MAX_FAILED_JOBS: Readonly<Record<JobName, number>> = { analyze: 1_000, analyzed: 50 };
