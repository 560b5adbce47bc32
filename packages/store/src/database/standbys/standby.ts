import { parseUrl } from '@akin/domain';
import { withTimeout } from '@akin/runtime';
import pg from 'pg';
import { connectionTo, openPool, POOL_SETTINGS, type PoolEngine, poolEngine } from '../engine/postgres-pool.ts';
import { reasonOf } from '../engine/sqlstate.ts';

const CONNECTIONS = 10;
/** A standby that takes longer to report its state does not answer. */
const STANDBY_TIMEOUT_MILLISECONDS = 2_000;
/** Interval of checks of a standby during a read of it. */
const RETRY_MILLISECONDS = 2_000;
/** Added to the time limit of a statement. The server ends the statement before, unless the server is gone. */
const STATEMENT_GRACE_MILLISECONDS = 5_000;
/** Maximum wait for a standby at shutdown. */
const CLOSE_MILLISECONDS = 5_000;

/** How long a standby that is behind is left out: the first time, and the maximum. The time doubles. */
const BEHIND_BACKOFF = [100, 5_000] as const;
/** The same for a standby that does not answer. */
const AWAY_BACKOFF = [250, 30_000] as const;

/** After this many consecutive reads that found a standby behind, its state is `behind`. */
const LAGGING = 3;
/** The state is `used` again if the standby was not read for this time. */
const STALE_MILLISECONDS = 30_000;
/** After this many consecutive reads that found it behind, which take at least half a minute, it is reported. */
const STUCK = 12;

/** The advice about a server that may not be read. */
const REMEDY = 'Name only servers that follow the primary, each with the same database (--search-database-url).';

const STUCK_BEHIND =
  'It lacked the last commit of the primary twelve times in a row: it lags, or stayed with an earlier primary. akin_standby_lag_bytes says how far it is.';

/** The outcome of a read of a standby. After any but `answered`, the primary is read. */
export type StandbyResult = 'answered' | 'behind' | 'cancelled' | 'failed';

export interface StandbyStatus {
  /** Host, port and database. */
  readonly name: string;
  /** `behind`: it has not replayed the primary's commits. `away`: it does not answer, or may not be read. */
  readonly state: 'used' | 'behind' | 'away';
  /** Why it is away, or how long it has been behind. */
  readonly reason?: string;
}

/** The identity that a server shares with its standbys: the database system, and the database in it. */
export interface DatabaseIdentity {
  readonly system: bigint;
  readonly database: bigint;
}

/** SQL of a {@link DatabaseIdentity}: columns, to be selected from `pg_control_system()`. */
export const IDENTITY_COLUMNS = `system_identifier as system,
  (select oid::int8 from pg_database where datname = current_database()) as database`;

export interface StandbyOptions {
  /** Name of the connections on the server. */
  readonly name: string;
  /** Time limit of a statement. */
  readonly milliseconds: number;
  /** The identity of the primary, and of each standby of it. */
  readonly identity: () => Promise<DatabaseIdentity>;
  /** Called when it is left out because it does not answer or stays behind, and when it is used again. */
  readonly changed: (status: StandbyStatus) => void;
}

interface CheckResult extends DatabaseIdentity {
  readonly standby: boolean;
  /** Bytes of the log that it has replayed. */
  readonly replayed: bigint | null;
}

/**
 * One standby: its connections while it answers, and how long it is left out otherwise (exponential backoff). A standby
 * that does not answer is checked in the background, so that no search waits for it.
 */
export class Standby implements AsyncDisposable {
  readonly name: string;
  readonly #url: string;
  readonly #options: StandbyOptions;
  /** While it may be read. */
  #engine: PoolEngine | undefined;
  #away = 'It was not checked yet.';
  #failures = 0;
  #misses = 0;
  /** When it may be read, or checked, again. */
  #outUntil = 0;
  /** The last commit that it showed, by collection. */
  readonly #shown = new Map<number, bigint>();
  /** Commits that both it and the primary have shown, by collection. */
  #common = new Map<number, string>();
  /** Whether it is left out until the next check has ended. */
  #isDoubted = false;
  #checking: Promise<CheckResult | undefined> | undefined;
  #isClosed = false;
  reading = 0;

  /** @throws AkinError bad-request if the URL is invalid */
  constructor(url: string, options: StandbyOptions) {
    this.#url = url;
    this.#options = options;
    // Reports an invalid URL at once.
    void this.#open()[Symbol.asyncDispose]();
    this.name = nameOf(url);
  }

  get status(): StandbyStatus {
    const { name } = this;
    if (this.#engine === undefined) return { name, state: 'away', reason: this.#away };
    const isBehind = this.#misses >= LAGGING && performance.now() < this.#outUntil + STALE_MILLISECONDS;
    return { name, state: isBehind ? 'behind' : 'used' };
  }

  /**
   * The engine to read from. Undefined while the standby is left out.
   *
   * @param old whether the commits that it has shown are enough: then it is also read while it is behind
   */
  use(old: boolean): PoolEngine | undefined {
    const isOut = performance.now() < this.#outUntil;
    if (this.#isDoubted || (isOut && !(old && this.#engine))) return undefined;
    if (this.#engine === undefined) void this.check();
    return this.#engine;
  }

  /** The last commit of a collection that it is known to show. -1 if there is none. */
  visibleCommit(collectionId: number): bigint {
    return this.#shown.get(collectionId) ?? -1n;
  }

  setVisibleCommit(collectionId: number, commit: bigint): void {
    this.#shown.set(collectionId, commit);
  }

  /**
   * Whether a commit that it shows is one that the primary has had, so that both have the same history up to there.
   * Each commit is confirmed once. @param ask asks the primary
   */
  async isCommon(collectionId: number, commit: string, ask: () => Promise<boolean>): Promise<boolean> {
    const common = this.#common;
    if (common.get(collectionId) === commit) return true;
    const is = await ask();
    if (is) common.set(collectionId, commit);
    return is;
  }

  /**
   * Forgets what is known about the commits of the standby. The timeline of the primary has changed, so the standby may
   * have commits that are not in it.
   */
  timelineChanged(): void {
    this.#shown.clear();
    // Questions to the earlier primary may still be answered.
    this.#common = new Map();
  }

  /** Runs reads. During a long read, it checks whether the server is still alive. If not, the read fails. */
  async read<T>(work: () => Promise<T>): Promise<T> {
    const timer = setInterval(() => void this.check(), RETRY_MILLISECONDS);
    this.reading++;
    try {
      return await work();
    } finally {
      this.reading--;
      clearInterval(timer);
    }
  }

  /** Records that it had the commit of the primary. */
  recordCurrent(): void {
    const wasStuck = this.#misses >= STUCK;
    this.#misses = 0;
    if (this.#engine === undefined) return;
    this.#outUntil = 0;
    if (wasStuck) this.#options.changed(this.status);
  }

  /** Records that it lacked the commit that a read needed. @param since when the read began */
  recordBehind(since: number): void {
    // Reads that began before the standby was left out count only once.
    if (since < this.#outUntil) return;
    this.#outUntil = performance.now() + backoff(BEHIND_BACKOFF, this.#misses++);
    if (this.#misses === STUCK) this.#options.changed({ name: this.name, state: 'behind', reason: STUCK_BEHIND });
  }

  /**
   * A connection to it broke, or it is another server than before: it is not read before a check says that it may be
   * read.
   */
  requireCheck(): void {
    this.#isDoubted = true;
    void this.check();
  }

  #leaveOut(reason: string): void {
    const isNews = this.#failures === 0;
    this.#away = reason;
    this.#outUntil = performance.now() + backoff(AWAY_BACKOFF, this.#failures++);
    const engine = this.#engine;
    this.#engine = undefined;
    engine?.abandon();
    void engine?.[Symbol.asyncDispose]();
    if (isNews && !this.#isClosed) this.#options.changed(this.status);
  }

  /** Checks whether it answers, on a separate connection; then it may be read again. */
  check(): Promise<CheckResult | undefined> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
      this.#isDoubted = false;
    });
    return this.#checking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const engine = this.#engine;
    this.#engine = undefined;
    const closing = Promise.all([this.#checking, engine?.[Symbol.asyncDispose]()]);
    await withTimeout(CLOSE_MILLISECONDS, closing).catch(() => engine?.abandon());
  }

  async #check(): Promise<CheckResult | undefined> {
    try {
      // The primary may hang as well.
      const [check, primary] = await withTimeout(
        2 * STANDBY_TIMEOUT_MILLISECONDS,
        Promise.all([this.#ask(), this.#options.identity()]),
      );
      if (check.system !== primary.system)
        throw new Error(`It belongs to another database system than the primary. ${REMEDY}`);
      if (check.database !== primary.database) {
        throw new Error(`It follows the primary, but its address names another database. ${REMEDY}`);
      }
      if (!check.standby) throw new Error(`It is no standby: it was promoted, or never was one. ${REMEDY}`);
      if (this.#isClosed) return undefined;
      if (this.#engine === undefined) {
        this.#engine = this.#open();
        this.#misses = 0;
        this.#outUntil = 0;
        this.timelineChanged();
        this.#options.changed(this.status);
      }
      this.#failures = 0;
      return check;
    } catch (error) {
      this.#leaveOut(reasonOf(error));
      return undefined;
    }
  }

  async #ask(): Promise<CheckResult> {
    const client = new pg.Client({
      ...this.#connection(),
      connectionTimeoutMillis: STANDBY_TIMEOUT_MILLISECONDS,
      query_timeout: STANDBY_TIMEOUT_MILLISECONDS,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<CheckResult>(
        `select pg_is_in_recovery() as standby, ${IDENTITY_COLUMNS},
                case when pg_is_in_recovery() then pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::int8 end as replayed
           from pg_control_system()`,
      );
      return rows[0] as CheckResult;
    } finally {
      // One that hangs may never confirm its end.
      client.end().catch(() => undefined);
    }
  }

  #connection(): pg.ClientConfig {
    const { name, milliseconds } = this.#options;
    return { ...connectionTo(this.#url, name), query_timeout: milliseconds + STATEMENT_GRACE_MILLISECONDS };
  }

  #open(): PoolEngine {
    const connection = this.#connection();
    return poolEngine(openPool(connection, POOL_SETTINGS, CONNECTIONS), {
      cancel: async (processes) => {
        const client = new pg.Client({ ...connection, query_timeout: STANDBY_TIMEOUT_MILLISECONDS });
        client.on('error', () => undefined);
        try {
          await client.connect();
          await client.query('select pg_cancel_backend(pid) from unnest($1::int4[]) as processes (pid)', [processes]);
        } finally {
          client.end().catch(() => undefined);
        }
      },
    });
  }
}

/** Without user and password. */
function nameOf(url: string): string {
  const parsed = parseUrl(url);
  return parsed === undefined ? 'standby' : `${parsed.host}${parsed.pathname}`;
}

function backoff([first, max]: readonly [number, number], times: number): number {
  return Math.min(max, first * 2 ** Math.min(times, 30));
}
