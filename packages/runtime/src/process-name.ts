/** The identity of a process, as the database of the fleet shows it. */
export interface ProcessName {
  /** `gateway`, `indexer` or `analyzer`. */
  readonly role: string;
  readonly version: string;
  readonly host: string;
  readonly pid: number;
}

/** PostgreSQL truncates names to this number of bytes. */
const LONGEST_NAME = 63;

/** The name of a process for its connections, in ASCII: `akin <role> <version> <pid> <host>`. */
export function connectionName({ role, version, host, pid }: ProcessName): string {
  return `akin ${role} ${version} ${pid} ${host.replace(/[^\x21-\x7e]/g, '?')}`.slice(0, LONGEST_NAME);
}

/**
 * Parses a name that `connectionName` made. Undefined for the name of another program, or one truncated before the
 * host; the host itself may be truncated.
 */
export function parseConnectionName(name: string): ProcessName | undefined {
  const [, role, version, pid, host] = /^akin (\S+) (\S+) (\d+) (\S+)$/.exec(name) ?? [];
  if (role === undefined || version === undefined || host === undefined) return undefined;
  return { role, version, host, pid: Number(pid) };
}
