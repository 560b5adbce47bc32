import { analysisJobId } from '@akin/contract';
import { inSpan, traceparent } from '@akin/runtime';
import { type AnalysisTask, ClaimTurns, claimForAnalysis, failAnalysis, requeueAnalyses } from '@akin/store';
import type { Context } from './context.ts';
import { MAX_ATTEMPTS } from './retries.ts';
import { jobRefOf } from './sweep.ts';

/**
 * Minimum and maximum number of jobs in the queue; in between, the work of this many seconds. Further pictures wait in
 * the database, where collections take turns; in the queue they would wait behind each other.
 */
const WAITING_SECONDS = 10;
const MIN_WAITING = 100;
const MAX_WAITING = 500;
/** Additional jobs for images that a client may wait for: they have priority. */
const MAX_WAITING_INTERACTIVE = 1_000;
/** Name of the queue in spans. */
const ANALYZE_JOBS = { 'messaging.system': 'bullmq', 'messaging.destination.name': 'analyze' } as const;
/** Number of images that are claimed at a time. */
const CHUNK = 50;
/** The time over which analyses are counted. */
const COUNT_MILLISECONDS = 1_000;
/** Position within its request: the images of small requests go before those of large ones. */
const FIRST_BULK_POSITION = 20;
/** Number of images of one host in the queue: enough for all analyzers to use their limit of connections to it. */
const PER_HOST = 64;
/** The same limit with the images that a client may wait for. */
const PER_HOST_INTERACTIVE = 96;
/** Searching many images of hosts at their limit takes time. It may use at most a tenth of the time, … */
const REST_FACTOR = 9;
/** … or a quarter after an analysis has ended, because one of these hosts may be below its limit then. */
const REST_FACTOR_AFTER_END = 3;

/** Gives waiting images to analyzers, as long as the queue is not full. */
export interface Dispatch {
  run(): Promise<void>;
  /** An analysis ended: one more image of its host may be queued. */
  analysisEnded(): void;
  /** Something changed in a collection. */
  onChange(collection: number): void;
}

export function createDispatch(context: Context): Dispatch {
  const { store } = context;
  let hasEnded = true;
  let pollFrom = 0;
  let walkFrom = 0;
  const pace = createPace();
  const shouldSkip = (models: ReadonlyMap<string, string>) => context.queue.isFull?.(models.get('content')) ?? false;
  const first = { first: FIRST_BULK_POSITION, perHost: PER_HOST_INTERACTIVE, shouldSkip, turns: new ClaimTurns() };
  const any = { perHost: PER_HOST, shouldSkip, turns: new ClaimTurns() };

  const handOut = async (tasks: readonly AnalysisTask[]): Promise<'all' | 'some'> => {
    const taken = await Promise.all(tasks.map((task) => dispatch(task, context)));
    return taken.includes(false) ? 'some' : 'all';
  };

  return {
    async run() {
      let waiting = await waitingJobs(context);
      while (waiting + CHUNK <= MAX_WAITING_INTERACTIVE) {
        const tasks = await claimForAnalysis(store, CHUNK, first);
        if ((await handOut(tasks)) === 'some') return;
        if (tasks.length === 0) break;
        waiting += tasks.length;
      }
      const mayPoll = () => performance.now() >= (hasEnded ? pollFrom : walkFrom);
      const most = Math.min(Math.max(pace.perSecond() * WAITING_SECONDS, MIN_WAITING), MAX_WAITING);
      while (waiting + CHUNK <= most && mayPoll()) {
        hasEnded = false;
        const from = performance.now();
        const tasks = await claimForAnalysis(store, CHUNK, any);
        const walked = performance.now() - from;
        if ((await handOut(tasks)) === 'some') return;
        waiting += tasks.length;
        if (tasks.length === 0) {
          const now = performance.now();
          walkFrom = now + REST_FACTOR * walked;
          pollFrom = now + REST_FACTOR_AFTER_END * walked;
          break;
        }
        // There may be more images of the same hosts, which need no search.
        if (tasks.length === CHUNK) hasEnded = true;
      }
    },
    analysisEnded() {
      hasEnded = true;
      pace.count();
    },
    onChange(collection) {
      first.turns.onChange(collection);
      any.turns.onChange(collection);
    },
  };
}

/** Recent number of finished analyses per second. */
function createPace(): { count(): void; perSecond(): number } {
  let since = performance.now();
  let count = 0;
  let perSecond = 0;
  return {
    count() {
      count++;
    },
    perSecond() {
      const passed = performance.now() - since;
      if (passed >= COUNT_MILLISECONDS) {
        perSecond = (perSecond + (1_000 * count) / passed) / 2;
        since += passed;
        count = 0;
      }
      return perSecond;
    },
  };
}

async function waitingJobs({ queue }: Context): Promise<number> {
  const [analyze, analyzed] = await Promise.all([queue.counts('analyze'), queue.counts('analyzed')]);
  return analyze.waiting + analyze.delayed + analyzed.waiting + analyzed.delayed;
}

/**
 * The span of the hand-over, and so the whole analysis, is part of the trace of the request. For a request with many
 * images, each further image has a separate trace, because no page could show all of them together.
 * @returns false if the queue did not accept it
 */
async function dispatch(task: AnalysisTask, context: Context): Promise<boolean> {
  const { position, collection, origin } = task;
  const bulk = position >= FIRST_BULK_POSITION;
  const options = {
    kind: 'producer',
    partOf: bulk ? null : (origin.trace ?? null),
    links: bulk && origin.trace !== undefined ? [origin.trace] : [],
    attributes: {
      ...ANALYZE_JOBS,
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'akin.collection': collection.name,
      'akin.request.id': origin.requestId,
    },
  } as const;
  return inSpan('send analyze', options, () => send(task, bulk, context));
}

async function send(task: AnalysisTask, bulk: boolean, { store, queue, log, waits }: Context): Promise<boolean> {
  const { collection, attempt, image, modules } = task;
  const model = task.models.get('content');
  if (attempt > MAX_ATTEMPTS) {
    const msg = `The analysis of this image was started ${MAX_ATTEMPTS} times and never finished.`;
    await failAnalysis(store, task, { code: 'image-undecodable', msg });
    return true;
  }
  const ref = jobRefOf(task);
  const { requestId, trace } = task.origin;
  const origin = { requestId, trace: traceparent() ?? (bulk ? undefined : trace) };
  try {
    await queue.add(
      'analyze',
      {
        ...ref,
        origin,
        image,
        ...(modules && { modules: [...modules] }),
        ...(model !== undefined && { model }),
        ...(bulk && { bulk }),
      },
      { id: analysisJobId(ref), priority: bulk ? 'bulk' : 'interactive' },
    );
    waits.observe({ priority: bulk ? 'bulk' : 'interactive' }, (Date.now() - task.acceptedAt.getTime()) / 1000);
    return true;
  } catch (err) {
    log.warn({ err, collection: collection.name }, 'the queue accepts no analyses; they wait in the database');
    await requeueAnalyses(store, [task], { begun: false, at: new Date(Date.now() + 1_000) });
    return false;
  }
}
