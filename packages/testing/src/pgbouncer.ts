import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { debianPgBouncer } from './debian.ts';
import { testFolder } from './files-folder.ts';
import { postgresIsUp } from './is-up.ts';
import { userForPostgres } from './local.ts';
import { freePort, type Server, startServer } from './server.ts';

/**
 * Starts a PgBouncer in front of a database. It accepts every client.
 *
 * @param databaseUrl the URL of the database behind it
 * @param settings the settings of PgBouncer, such as `pool_mode`; all others keep their defaults
 */
export async function openPgBouncer(databaseUrl: string, settings: Readonly<Record<string, string>>): Promise<Server> {
  const program = await debianPgBouncer();
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const name = pathname.slice(1);
  const behind = { host: hostname, port: port || '5432', dbname: name, user: username, password };
  const listening = await freePort();
  const all = { listen_addr: '127.0.0.1', listen_port: listening, unix_socket_dir: '', auth_type: 'any', ...settings };
  const lines = [
    '[databases]',
    `${name} = ${pairs(behind)
      .map(([key, value]) => `${key}='${decodeURIComponent(value).replaceAll("'", "''")}'`)
      .join(' ')}`,
    '[pgbouncer]',
    ...pairs(all).map(([key, value]) => `${key} = ${value}`),
  ];
  const folder = await mkdtemp(join(testFolder(), `akin-tests-${process.pid}-`));
  const file = join(folder, 'pgbouncer.ini');
  // The file may contain the password of an external server.
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  await chmod(folder, 0o711);
  const command = [...(await userForPostgres(folder)), program, '--quiet', file];
  const url = `postgres://akin@127.0.0.1:${listening}/${name}`;
  const server = await startServer(command, 'QUIT', url, () => postgresIsUp(url));
  return {
    url,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function pairs(settings: Readonly<Record<string, string | number>>): [string, string][] {
  return Object.entries(settings).flatMap(([key, value]) =>
    value === '' && key === 'password' ? [] : [[key, `${value}`]],
  );
}
