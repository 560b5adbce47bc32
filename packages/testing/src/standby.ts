import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { debianPrograms } from './debian.ts';
import { postgresIsUp } from './is-up.ts';
import { type KillableServer, killable, newFolder } from './killable.ts';
import { initPostgres, postgresSettings, userForPostgres } from './local.ts';
import { freePort, startServer } from './server.ts';
import { type HeldTransaction, holdTransaction, runStatement } from './statements.ts';

const run = promisify(execFile);

/** A PostgreSQL server for a single test, with methods to run statements. */
interface PostgresServer extends KillableServer {
  /** Runs a statement on this server. @returns its rows */
  run<Row = unknown>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs a statement in a transaction that stays open: its locks are kept until it is released, or the server ends. */
  hold(sql: string, values?: readonly unknown[]): Promise<HeldTransaction>;
}

/** A server that replicates another one by streaming and answers reads (a hot standby). */
interface StandbyServer extends PostgresServer {
  /** Pauses replay: changes from the primary are stored but not visible until replay is resumed. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Resolves when all changes that the primary had at the time of the call are visible. */
  catchUp(): Promise<void>;
  /** Promotes it to a primary, which no longer follows another server. */
  promote(): Promise<void>;
}

export interface ReplicatedPostgres extends AsyncDisposable {
  readonly primary: PostgresServer;
  readonly standbys: readonly StandbyServer[];
  /**
   * From now on the primary confirms a transaction only when a standby has it on disk; it may not be visible there yet.
   */
  confirmOnStandby(): Promise<void>;
}

/**
 * Starts a PostgreSQL 17 with pgvector, and standbys of it.
 *
 * @param settings the settings of all servers, such as `hot_standby_feedback`
 */
export async function replicatedPostgres(
  count = 1,
  settings: Readonly<Record<string, string>> = {},
): Promise<ReplicatedPostgres> {
  const folder = await newFolder();
  const data = await initPostgres(folder);
  const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // A copy of the data folder made before the first start is equivalent to pg_basebackup, if the primary keeps its log
  // from the start.
  const folders = await Promise.all(
    Array.from({ length: count }, async () => {
      const own = await newFolder();
      await run('cp', ['-R', data, own]);
      return own;
    }),
  );
  const primary = await startPostgres(folder, [...given, '-c', 'wal_keep_size=1GB']);
  const standbys: StandbyServer[] = [];
  for (const own of folders) standbys.push(await startStandby(own, primary.url, given));
  return {
    primary,
    standbys,
    async confirmOnStandby() {
      // Set on the primary only: a promoted standby must not wait for another one.
      await primary.run("alter system set synchronous_standby_names = '*'");
      await primary.run('select pg_reload_conf()');
      await until(primary.url, 'select count(*) > 0 from pg_stat_replication where sync_state = $1', 'sync');
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...standbys, primary].map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

/** @param folder a data folder of PostgreSQL */
async function startPostgres(folder: string, settings: readonly string[]): Promise<PostgresServer> {
  const { postgres } = await debianPrograms();
  const data = join(folder, 'postgres');
  const port = await freePort();
  const command = [...(await userForPostgres(data)), postgres, '-D', data, ...postgresSettings(port), ...settings];
  const url = `postgres://akin@127.0.0.1:${port}/postgres`;
  const pid = async () => Number((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[0]);
  const server = await killable(folder, url, () => startServer(command, 'QUIT', url, () => postgresIsUp(url)), pid);
  return {
    ...server,
    run: (sql, values) => runStatement(url, sql, values),
    hold: (sql, values) => holdTransaction(url, sql, values),
  };
}

async function startStandby(folder: string, primaryUrl: string, settings: readonly string[]): Promise<StandbyServer> {
  const data = join(folder, 'postgres');
  await writeFile(join(data, 'standby.signal'), '');
  await chmod(data, 0o700);
  const { port, username } = new URL(primaryUrl);
  const conninfo = `primary_conninfo=host=127.0.0.1 port=${port} user=${username}`;
  const server = await startPostgres(folder, [...settings, '-c', conninfo, '-c', 'wal_retrieve_retry_interval=100ms']);
  const { url } = server;
  return {
    ...server,
    pause: () =>
      server
        .run('select pg_wal_replay_pause()')
        .then(() => until(url, 'select pg_get_wal_replay_pause_state() = $1', 'paused')),
    resume: async () => void (await server.run('select pg_wal_replay_resume()')),
    async catchUp() {
      const sql = 'select pg_current_wal_flush_lsn()::text as position';
      const [row] = await runStatement<{ position: string }>(primaryUrl, sql);
      await until(url, 'select pg_last_wal_replay_lsn() >= $1::pg_lsn', row?.position);
    },
    promote: async () => void (await server.run('select pg_promote()')),
  };
}

/** Resolves when a statement with one parameter selects true. */
async function until(url: string, sql: string, value: unknown): Promise<void> {
  for (;;) {
    const [row] = await runStatement<Record<string, unknown>>(url, sql, [value]);
    if (Object.values(row ?? {})[0] === true) return;
    await delay(10);
  }
}
