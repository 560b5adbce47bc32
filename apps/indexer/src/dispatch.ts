import { analysisJobId } from '@akin/contract';
import { inSpan, traceparent } from '@akin/runtime';
import { type AnalysisTask, ClaimTurns, claimForAnalysis, failAnalysis, requeueAnalyses } from '@akin/store/changes';
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
const ANALYZE_JOBS = { 'messaging.system': 'bullmq', 'messaging.destination.name': 'analyze' } as const;
const CHUNK = 50;
const COUNT_MILLISECONDS = 1_000;
/** Position within its request: the images of small requests go before those of large ones. */
const FIRST_BULK_POSITION = 20;
/** Maximum number of images of one host in the queue: enough for the connections that all analyzers may open to it. */
const PER_HOST = 64;
/** The same limit for images that a client may wait for. */
const PER_HOST_INTERACTIVE = 96;
/**
 * A search that finds no image may take long: it skips all images of hosts at their limit. The next search waits for
 * this many times its duration.
 */
const SEARCH_PAUSE_FACTOR = 9;
/** The same after an analysis has ended: its host may be below the limit then. */
const SEARCH_PAUSE_FACTOR_AFTER_END = 3;

/** Moves waiting images from the database to the queue, as long as the queue is not full. */
export interface Dispatch {
  run(): Promise<void>;
  /** An analysis ended: one more image of its host may be queued. */
  analysisEnded(): void;
  onChange(collection: number): void;
}

export function createDispatch(context: Context): Dispatch {
  const { store } = context;
  let mayHaveFreeHost = true;
  let searchAfterEndFrom = 0;
  let searchFrom = 0;
  const endedAnalyses = createRateMeter();
  const shouldSkip = (models: ReadonlyMap<string, string>) => context.queue.isFull?.(models.get('content')) ?? false;
  const first = { first: FIRST_BULK_POSITION, perHost: PER_HOST_INTERACTIVE, shouldSkip, turns: new ClaimTurns() };
  const any = { perHost: PER_HOST, shouldSkip, turns: new ClaimTurns() };

  const sendAll = async (tasks: readonly AnalysisTask[]): Promise<'all' | 'some'> => {
    const taken = await Promise.all(tasks.map((task) => dispatch(task, context)));
    return taken.includes(false) ? 'some' : 'all';
  };

  return {
    async run() {
      let waiting = await waitingJobs(context);
      while (waiting + CHUNK <= MAX_WAITING_INTERACTIVE) {
        const tasks = await claimForAnalysis(store, CHUNK, first);
        if ((await sendAll(tasks)) === 'some') return;
        if (tasks.length === 0) break;
        waiting += tasks.length;
      }
      const maySearch = () => performance.now() >= (mayHaveFreeHost ? searchAfterEndFrom : searchFrom);
      const max = Math.min(Math.max(endedAnalyses.perSecond() * WAITING_SECONDS, MIN_WAITING), MAX_WAITING);
      while (waiting + CHUNK <= max && maySearch()) {
        mayHaveFreeHost = false;
        const from = performance.now();
        const tasks = await claimForAnalysis(store, CHUNK, any);
        const searched = performance.now() - from;
        if ((await sendAll(tasks)) === 'some') return;
        waiting += tasks.length;
        if (tasks.length === 0) {
          const now = performance.now();
          searchFrom = now + SEARCH_PAUSE_FACTOR * searched;
          searchAfterEndFrom = now + SEARCH_PAUSE_FACTOR_AFTER_END * searched;
          break;
        }
        // After a full chunk, the next search probably finds images at once.
        if (tasks.length === CHUNK) mayHaveFreeHost = true;
      }
    },
    analysisEnded() {
      mayHaveFreeHost = true;
      endedAnalyses.count();
    },
    onChange(collection) {
      first.turns.onChange(collection);
      any.turns.onChange(collection);
    },
  };
}

function createRateMeter(): { count(): void; perSecond(): number } {
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
 * Sends an image to the queue. Its span is part of the trace of the request, and the analysis continues that trace. In
 * a large request, only the first images are in its trace, because no tool could show all of them together. Each
 * further image has a separate trace, which is linked to it.
 *
 * @returns false if the queue did not accept it
 */
async function dispatch(task: AnalysisTask, context: Context): Promise<boolean> {
  const { position, collection, origin } = task;
  const bulk = position >= FIRST_BULK_POSITION;
  const options = {
    kind: 'producer',
    parent: bulk ? null : (origin.traceparent ?? null),
    links: bulk && origin.traceparent !== undefined ? [origin.traceparent] : [],
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

async function send(task: AnalysisTask, bulk: boolean, { store, queue, log, queueWaits }: Context): Promise<boolean> {
  const { collection, attempt, image, modules } = task;
  const model = task.models.get('content');
  if (attempt > MAX_ATTEMPTS) {
    const msg = `The analysis of this image was started ${MAX_ATTEMPTS} times and never finished.`;
    await failAnalysis(store, task, { code: 'image-undecodable', msg });
    return true;
  }
  const ref = jobRefOf(task);
  const { requestId, traceparent: parent } = task.origin;
  const origin = { requestId, trace: traceparent() ?? (bulk ? undefined : parent) };
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
    queueWaits.observe({ priority: bulk ? 'bulk' : 'interactive' }, (Date.now() - task.acceptedAt.getTime()) / 1000);
    return true;
  } catch (err) {
    log.warn({ err, collection: collection.name }, 'the queue accepts no analyses; they wait in the database');
    await requeueAnalyses(store, [task], { begun: false, at: new Date(Date.now() + 1_000) });
    return false;
  }
}
