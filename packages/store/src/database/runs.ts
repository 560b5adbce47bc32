import { AkinError, quote } from '@akin/domain';
import type { Collection, Database } from './context.ts';
import type { Row } from './engine/engine.ts';

type RunState = 'running' | 'paused' | 'done' | 'failed' | 'stopped';

export interface RunFailure {
  readonly path: string;
  readonly code: string;
  readonly msg: string;
}

/** The report of a program that indexes a folder. */
export interface RunReport {
  readonly source: string;
  readonly state: RunState;
  /** Number of files: found so far, indexed, unchanged, and failed. */
  readonly total: number;
  readonly done: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly secondsLeft: number | null;
}

export interface Run extends RunReport {
  readonly id: string;
  readonly startedAt: Date;
  readonly failures: readonly RunFailure[];
  /** Failures that are not listed. */
  readonly failuresMore: number;
}

/** Maximum number of runs of a collection, those with the latest reports. */
const MAX_RUNS = 10;
/** Programs report more often than this. A run without reports has stopped. */
const ALIVE_SECONDS = 60;

const COLUMNS = `id, started_at, report, failures,
  reported_at < clock_timestamp() - interval '${ALIVE_SECONDS} seconds' as silent`;

/** The runs of a collection, the newest first. */
export async function listRuns(store: Database, collection: Collection): Promise<Run[]> {
  const rows = await store.engine.query(
    `select ${COLUMNS} from akin.runs where collection = $1 order by started_at desc, id limit ${MAX_RUNS}`,
    [collection.name],
  );
  return rows.map(fromRow);
}

/** @throws AkinError not-found */
export async function findRun(store: Database, collection: Collection, id: string): Promise<Run> {
  const [row] = await store.engine.query(`select ${COLUMNS} from akin.runs where collection = $1 and id = $2`, [
    collection.name,
    id,
  ]);
  if (row === undefined) throw new AkinError('not-found', `There is no run ${quote(id)} in ${collection.name}.`);
  return fromRow(row);
}

/** @param failures all so far; if empty, earlier ones stay while some failed */
export async function reportRun(
  store: Database,
  collection: Collection,
  id: string,
  report: RunReport,
  failures: readonly RunFailure[],
): Promise<Run> {
  const list = failures.length > 0 || report.failed === 0 ? JSON.stringify(failures) : null;
  await store.engine.transaction(async (tx) => {
    await tx.query(
      // A retried run starts again. PostgreSQL reads no JSON with some characters that a source may have.
      `insert into akin.runs as r (collection, id, report, failures) values ($1, $2, $3, coalesce($4, '[]'))
       on conflict (collection, id) do update
          set report = excluded.report, failures = coalesce($4, r.failures), reported_at = clock_timestamp(),
              started_at = case when $5 and r.report ~ '"state":"(done|failed|stopped)"'
                                then clock_timestamp() else r.started_at end`,
      [collection.name, id, JSON.stringify(report), list, report.state === 'running'],
    );
    await tx.query(
      // Keeps the runs with the latest reports, so that a run in progress stays, however many shorter runs start after
      // it.
      `delete from akin.runs where collection = $1 and id in (
         select id from akin.runs where collection = $1 order by reported_at desc, id offset ${MAX_RUNS})`,
      [collection.name],
    );
  });
  return findRun(store, collection, id);
}

/** @throws AkinError not-found; conflict while it is still reported */
export async function dismissRun(store: Database, collection: Collection, id: string): Promise<void> {
  const run = await findRun(store, collection, id);
  if (run.state === 'running') {
    throw new AkinError('conflict', 'This run is still active: stop the command, or wait for its end.');
  }
  await store.engine.query('delete from akin.runs where collection = $1 and id = $2', [collection.name, id]);
}

function fromRow({ id, started_at, report, failures, silent }: Row): Run {
  const stored: RunReport = JSON.parse(report);
  const listed: readonly RunFailure[] = JSON.parse(failures);
  const stopped = silent && (stored.state === 'running' || stored.state === 'paused');
  return {
    ...stored,
    ...(stopped ? { state: 'stopped', secondsLeft: null } : {}),
    id,
    startedAt: started_at,
    failures: listed,
    failuresMore: Math.max(0, stored.failed - listed.length),
  };
}
