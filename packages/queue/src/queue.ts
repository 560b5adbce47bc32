import type { JobName, JobPayload } from '@akin/contract';

/** One attempt at a job. */
export interface Job<Name extends JobName> {
  readonly id: string;
  readonly payload: JobPayload<Name>;
  /** From 1. */
  readonly attempt: number;
  /** Aborts when the time of the attempt is over; it then counts as failed. */
  readonly signal: AbortSignal;
}

export type JobHandler<Name extends JobName> = (job: Job<Name>) => Promise<void>;

export interface AddOptions {
  /**
   * Letters, digits, `-`, `_` and `.`, not digits alone. While a job of this id waits, runs or has failed, adding it
   * again does nothing; an id is free again once its job is done.
   */
  readonly id: string;
  /** `interactive`, when not given, goes before all that is `bulk`. */
  readonly priority?: 'interactive' | 'bulk';
}

export interface WorkOptions<Name extends JobName> {
  /** Jobs at the same time. */
  readonly concurrency: number;
  /** Told of a job that failed for good: at its last attempt, or because it ended the processes that took it. */
  readonly onFailed?: (job: Pick<Job<Name>, 'id' | 'payload'>, error: Error) => void;
}

/** Handles jobs until disposed of, which takes no more of them and waits for those that run. */
export interface Working extends AsyncDisposable {
  /**
   * Whether to take as many jobs as was said, or none as long as it has any: who has enough to do leaves the others to
   * those who have not. What was asked for before may still come; more is taken as soon as a job ends.
   */
  takeMore(more: boolean): void;
}

/** How many jobs of a name are where. */
export interface JobCounts {
  /** Ready to run. */
  readonly waiting: number;
  /** Waiting for their next attempt. */
  readonly delayed: number;
  readonly active: number;
  /** Failed for good; the last 1000 are kept. */
  readonly failed: number;
}

/**
 * Carries jobs of the catalogue (JOBS of the contract) to those who handle them: each at least once, in the order of
 * their priority, then in the order in which they came. Jobs may be lost with the process or with Redis.
 * `add` takes any number of them: who adds asks `counts` first, and leaves the rest in the database, which keeps it better.
 */
export interface Queue extends AsyncDisposable {
  /**
   * @throws Error when the payload is not what the catalogue says, the queue is closed or its server does not answer;
   * the job was then not added, as far as can be known.
   */
  add<Name extends JobName>(name: Name, payload: JobPayload<Name>, options: AddOptions): Promise<void>;
  /**
   * Handles jobs of a name from now on. A handler that throws has its job tried again, later and later, as often as
   * the catalogue says.
   */
  work<Name extends JobName>(name: Name, handler: JobHandler<Name>, options: WorkOptions<Name>): Working;
  counts(name: JobName): Promise<JobCounts>;
  /** Whether as many jobs for a content model wait as should: others go before. Never, where not given. */
  isFull?(model: string | undefined): boolean;
  /** Which of these jobs wait, run or are to be tried again: the others are done, failed for good, or lost. */
  alive(name: JobName, ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** How many failed jobs are kept. */
export const FAILED_KEPT = 1_000;
