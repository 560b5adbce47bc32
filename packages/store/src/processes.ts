import { type ProcessName, parseConnectionName } from '@akin/runtime';
import type { Store } from './context.ts';

/** A process that has connections to the database now. */
export interface ConnectedProcess extends ProcessName {
  /** The address that it connects from. Null over a socket of the machine. */
  readonly address: string | null;
  readonly connections: number;
  /** When the oldest of its connections was made. */
  readonly connectedAt: Date;
}

/**
 * The processes of a fleet, by their connections: a dead one has none, so nothing has to be written or removed. Empty
 * for the embedded database, which only one process uses.
 */
export async function listProcesses({ engine }: Store): Promise<ConnectedProcess[]> {
  if (engine.kind !== 'postgres') return [];
  const rows = await engine.query<{
    name: string;
    address: string | null;
    connections: number;
    connected_at: Date;
  }>(
    `select application_name as name, host(client_addr) as address, count(*)::int as connections,
            min(backend_start) as connected_at
       from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and application_name like 'akin %'
      group by application_name, client_addr
      order by 1, 2`,
  );
  return rows.flatMap(({ name, address, connections, connected_at: connectedAt }) => {
    const process = parseConnectionName(name);
    return process === undefined ? [] : [{ ...process, address, connections, connectedAt }];
  });
}
