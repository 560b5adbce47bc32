import { AkinError } from '@akin/domain';
import { withTimeout } from '@akin/runtime';
import type { Engine, Row } from '../engine/engine.ts';
import { sqlStateOf, wasCancelled } from '../engine/sqlstate.ts';
import { type DatabaseIdentity, IDENTITY_COLUMNS, Standby, type StandbyResult, type StandbyStatus } from './standby.ts';

/** SQL over a row of `akin.collections`: two servers give equal texts if commit, fields and name are equal. */
const FINGERPRINT = `concat_ws(' ', commit, committed_at, schema_version, name)`;

/** After this time without a reply, the primary counts as failed. */
const PRIMARY_TIMEOUT_MILLISECONDS = 5_000;

/** How current a read must be. */
export interface Freshness {
  /** The commit that must be visible, at least. */
  readonly atLeast?: bigint | undefined;
  /** Whether it must be the present commit of the primary. */
  readonly isCurrent: boolean;
  /** Whether nobody waits for the result: then bulk work does not pause. */
  readonly isBackground?: boolean | undefined;
}

/** SQL: what a read returns about the standby and the collection, from a row of `akin.collections`. */
export const FRESHNESS_COLUMNS = `pg_is_in_recovery() as standby, commit, committed_at::text as committed_at, ${FINGERPRINT} as fingerprint`;

/** The collection whose commit counts. */
interface ReadCollection {
  readonly id: number;
  readonly sqlSchema: string;
}

/** A read of a standby. Call `require` with the row of {@link FRESHNESS_COLUMNS} before the result is used. */
type Read<T> = (engine: Engine, require: (row: Row | undefined) => Promise<void>) => Promise<T>;

export interface StandbysConfig {
  /** URLs. Empty: everything is read from the primary. */
  readonly urls: readonly string[];
  /** Name of the connections on the servers. */
  readonly name: string;
  /** Time limit of a statement of a search. */
  readonly milliseconds: number;
}

export interface StandbyLag extends StandbyStatus {
  /** Bytes of the log that it has not replayed. Undefined if it does not answer. */
  readonly lagBytes: number | undefined;
}

interface ChosenStandby {
  readonly standby: Standby;
  readonly engine: Engine;
  /** Whether it is known to have what is needed. */
  readonly hasCommit: boolean;
}

/** Servers that follow the primary, from which searches are read if they are current enough. */
export class Standbys implements AsyncDisposable {
  readonly #primary: Engine;
  readonly #milliseconds: number;
  readonly #standbys: readonly Standby[];
  readonly #listeners = new Set<(name: string, result: StandbyResult) => void>();
  readonly #watchers = new Set<(status: StandbyStatus) => void>();
  #identity: DatabaseIdentity | undefined;
  #turn = 0;

  /** @throws AkinError bad-request if a URL is invalid */
  constructor(primary: Engine, { urls, name, milliseconds }: StandbysConfig) {
    this.#primary = primary;
    this.#milliseconds = milliseconds;
    const changed = (status: StandbyStatus) => {
      for (const watcher of this.#watchers) watcher(status);
    };
    const options = { name, milliseconds, changed, identity: () => this.#identityOfPrimary() };
    this.#standbys = urls.map((url) => new Standby(url, options));
  }

  get count(): number {
    return this.#standbys.length;
  }

  get statuses(): readonly StandbyStatus[] {
    return this.#standbys.map(({ status }) => status);
  }

  /** Calls a listener with the outcome of each read of a standby. */
  listen(listener: (name: string, result: StandbyResult) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Calls a watcher when a standby is left out because it does not answer or stays behind, and when it is used again.
   */
  watch(watcher: (status: StandbyStatus) => void): void {
    this.#watchers.add(watcher);
  }

  /** The primary has another history than before. The commits of each standby are checked again. */
  timelineChanged(): void {
    for (const standby of this.#standbys) standby.timelineChanged();
  }

  async check(): Promise<void> {
    await Promise.all(this.#standbys.map((standby) => standby.check()));
  }

  async lags(): Promise<StandbyLag[]> {
    if (this.#standbys.length === 0) return [];
    const position = this.#primary
      .query<{ written: bigint }>(
        `select pg_wal_lsn_diff(case when not pg_is_in_recovery() then pg_current_wal_lsn() end, '0/0')::int8 as written`,
      )
      .catch(() => []);
    const checks = await Promise.all(this.#standbys.map((standby) => standby.check()));
    const written = (await position)[0]?.written ?? undefined;
    return this.#standbys.map(({ status }, i) => {
      const replayed = checks[i]?.replayed ?? undefined;
      const isKnown = written !== undefined && replayed !== undefined;
      return { ...status, lagBytes: isKnown ? Math.max(0, Number(written - replayed)) : undefined };
    });
  }

  /**
   * Reads from a standby that is current enough. Errors there are not reported: the primary is asked instead.
   *
   * @param collection whose commit counts
   * @param work is called once at most; if it rejects, it must not have used anything that it read
   * @returns undefined if there is no such standby, or it could not answer
   * @throws AkinError unavailable if a statement reached its time limit; bad-request if `work` throws that
   */
  async read<T>(
    collection: ReadCollection,
    { atLeast, isCurrent }: Freshness,
    work: Read<T>,
  ): Promise<{ readonly value: T } | undefined> {
    const { id } = collection;
    const found = this.#choose(id, { atLeast, isCurrent });
    if (found === undefined) return undefined;
    const { standby, engine } = found;
    // The primary is asked at the same time as the standby, which saves a round trip. It is asked after the search
    // began, so that the result includes every commit before the search.
    const current = isCurrent ? this.#fingerprintOnPrimary(id) : undefined;
    current?.catch(() => undefined);
    const began = performance.now();
    let verdict: 'behind' | 'promoted' | 'unknown' | undefined;
    const refuse = (why: typeof verdict): never => {
      verdict = why;
      throw new Error(`the standby is not read: ${why}`);
    };
    let isFresh = false;
    const require = async (row: Row | undefined): Promise<void> => {
      if (row?.standby === false) refuse('promoted');
      if (row !== undefined) standby.setVisibleCommit(id, row.commit);
      if (row === undefined || (atLeast !== undefined && row.commit < atLeast)) return refuse('behind');
      const isOfPrimary = current
        ? current.then((fingerprint) => fingerprint === row.fingerprint)
        : this.#isCommon(standby, collection, row);
      if (!(await isOfPrimary.catch(() => refuse('unknown')))) refuse('behind');
      isFresh = true;
    };
    try {
      const value = await standby.read(() => work(engine, require));
      if (isCurrent) standby.recordCurrent();
      this.#count(standby, 'answered');
      return { value };
    } catch (error) {
      if (wasCancelled(error) && performance.now() - began >= this.#milliseconds) throw error;
      // The primary would refuse the same.
      if (isFresh && error instanceof AkinError && error.code === 'bad-request' && sqlStateOf(error) === undefined) {
        this.#count(standby, 'answered');
        throw error;
      }
      if (verdict === 'behind') {
        standby.recordBehind(began);
        this.#count(standby, 'behind');
      } else if (verdict === 'promoted' || (verdict === undefined && isGone(error))) {
        standby.requireCheck();
        this.#count(standby, 'failed');
      } else if (verdict === undefined) {
        this.#count(standby, 'cancelled');
      }
      return undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#standbys.map((standby) => standby[Symbol.asyncDispose]()));
  }

  /** One that is known to have what is needed, if any; then the one with the fewest reads, in turn among equals. */
  #choose(collectionId: number, { atLeast, isCurrent }: Freshness): ChosenStandby | undefined {
    const { length } = this.#standbys;
    let chosen: ChosenStandby | undefined;
    const turn = this.#turn++;
    for (let i = 0; i < length; i++) {
      const standby = this.#standbys[(turn + i) % length] as Standby;
      const hasCommit = !isCurrent && (atLeast === undefined || atLeast <= standby.visibleCommit(collectionId));
      const engine = standby.use(hasCommit);
      if (engine === undefined) continue;
      const isBetter = hasCommit === chosen?.hasCommit ? standby.reading < chosen.standby.reading : hasCommit;
      if (chosen === undefined || isBetter) chosen = { standby, engine, hasCommit };
    }
    return chosen;
  }

  /**
   * Whether a standby has the history of the primary. A standby that still follows an earlier, failed primary has other
   * commits with the same numbers, made at other times.
   */
  async #isCommon(standby: Standby, { id, sqlSchema }: ReadCollection, row: Row): Promise<boolean> {
    const { commit, committed_at } = row;
    // Before the first commit nothing is visible.
    if (commit === 0n) return true;
    const sql = `select from ${sqlSchema}.commits where number = $1 and committed_at = $2::timestamptz`;
    return standby.isCommon(id, `${commit} ${committed_at}`, async () => {
      const known = await withTimeout(PRIMARY_TIMEOUT_MILLISECONDS, this.#primary.query(sql, [commit, committed_at]));
      return known.length > 0;
    });
  }

  async #fingerprintOnPrimary(collectionId: number): Promise<string | undefined> {
    const sql = `select ${FINGERPRINT} as fingerprint from akin.collections where id = $1`;
    const options = { timeoutMilliseconds: this.#milliseconds, prepared: true, isSearch: false };
    // A connection that hangs must not block the search.
    const asked = this.#primary.read<{ fingerprint: string }>(sql, [collectionId], options);
    return (await withTimeout(PRIMARY_TIMEOUT_MILLISECONDS, asked))[0]?.fingerprint;
  }

  async #identityOfPrimary(): Promise<DatabaseIdentity> {
    if (this.#identity === undefined) {
      const [row] = await this.#primary.query(`select ${IDENTITY_COLUMNS} from pg_control_system()`);
      this.#identity = row as unknown as DatabaseIdentity;
    }
    return this.#identity;
  }

  #count({ name }: Standby, result: StandbyResult): void {
    for (const listener of this.#listeners) listener(name, result);
  }
}

/**
 * SQLSTATEs of connections that break or cannot be opened; not of statements that conflict with the replay of the
 * standby.
 */
const GONE = /^(08|28|3D|53|57P|F0)/;

function isGone(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state !== undefined) return GONE.test(state);
  return error instanceof AkinError && error.code === 'unavailable';
}
