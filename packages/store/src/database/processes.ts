import { type ProcessName, parseConnectionName } from '@akin/runtime';
import type { Database } from './context.ts';

/** A process that has connections to the database now. */
export interface ConnectedProcess extends ProcessName {
  /** The address that it connects from. Null over a socket of the machine. */
  readonly address: string | null;
  readonly connections: number;
  /** When the oldest of its connections was made. */
  readonly connectedAt: Date;
}

/** An analyzer that takes its jobs from Redis, and so has no connection to the database. */
export interface RedisAnalyzer {
  /** As {@link parseConnectionName} reads it. */
  readonly name: string;
  readonly address: string;
  readonly connectedAt: Date;
}

/** Keeps which analyzers Redis sees, for a minute. An indexer repeats it, because gateways do not know Redis. */
export async function saveAnalyzers({ engine }: Database, analyzers: readonly RedisAnalyzer[]): Promise<void> {
  if (analyzers.length === 0) return;
  await engine.query(
    `with gone as (delete from akin.analyzers where seen_at < now() - interval '1 hour')
     insert into akin.analyzers (name, address, connected_at)
     select * from unnest($1::text[], $2::text[], $3::timestamptz[])
         on conflict (name) do update
        set address = excluded.address, connected_at = excluded.connected_at, seen_at = now()`,
    [
      analyzers.map(({ name }) => name),
      analyzers.map(({ address }) => address),
      analyzers.map(({ connectedAt }) => connectedAt.toISOString()),
    ],
  );
}

/**
 * The processes of a fleet, by their connections: a dead one has none. Analyzers on Redis are those that an indexer saw
 * during the last minute. Empty for the embedded database, which only one process uses.
 */
export async function listProcesses({ engine }: Database): Promise<ConnectedProcess[]> {
  if (engine.kind !== 'postgres') return [];
  const rows = await engine.query<Omit<ConnectedProcess, keyof ProcessName> & { name: string }>(
    `select application_name as name, host(client_addr) as address, count(*)::int as connections,
            min(backend_start) as "connectedAt"
       from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and application_name like 'akin %'
      group by application_name, client_addr
     union all
     select name, address, 1, connected_at from akin.analyzers where seen_at > now() - interval '1 minute'
      order by 1, 2`,
  );
  return rows.flatMap(({ name, ...connection }) => {
    const process = parseConnectionName(name);
    return process === undefined ? [] : [{ ...process, ...connection }];
  });
}
