import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, chmod, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The Debian release of the unpacked PostgreSQL, pgvector and Redis. */
const RELEASE = 'trixie';
const POSTGRES_BIN = 'usr/lib/postgresql/17/bin';

/** Packages that are unpacked into the same folder. */
interface Bundle {
  /** Prefix of the names of its folders. */
  readonly cachePrefix: string;
  readonly packages: readonly string[];
  /** Paths of the programs, relative to the folder. */
  readonly programs: readonly string[];
}

const SERVERS: Bundle = {
  cachePrefix: '',
  packages: ['postgresql-17', 'postgresql-17-pgvector', 'redis-server'],
  programs: [`${POSTGRES_BIN}/initdb`, `${POSTGRES_BIN}/postgres`, 'usr/bin/redis-check-rdb'],
};
const CLIENTS: Bundle = {
  cachePrefix: 'clients-psql-',
  packages: ['postgresql-client-17'],
  programs: [`${POSTGRES_BIN}/pg_dump`, `${POSTGRES_BIN}/pg_restore`, `${POSTGRES_BIN}/psql`],
};
const POOLER: Bundle = { cachePrefix: 'pooler-', packages: ['pgbouncer'], programs: ['usr/sbin/pgbouncer'] };
const BALANCER: Bundle = { cachePrefix: 'balancer-', packages: ['haproxy'], programs: ['usr/sbin/haproxy'] };
const PROMTOOL: Bundle = { cachePrefix: 'promtool-', packages: ['promtool'], programs: ['usr/bin/promtool'] };
/** Increase this number when the packages or the way to unpack them change: older folders are then no longer used. */
const LAYOUT = 2;
const COMPLETE = 'complete';

/** Programs of PostgreSQL and Redis for this machine: absolute paths of executables. */
export interface Programs {
  readonly initdb: string;
  readonly postgres: string;
  readonly redis: string;
}

/**
 * The folder for unpacked packages. Root starts PostgreSQL as another user, which cannot read root's home, so root uses
 * another folder.
 */
export function cacheFolder(): string {
  const root = process.getuid?.() === 0;
  return process.env.AKIN_TEST_CACHE ?? (root ? '/var/cache/akin-tests' : join(homedir(), '.cache', 'akin-tests'));
}

/**
 * Downloads Debian packages and unpacks them without installing them. Needs apt-get and dpkg-deb, but neither root nor
 * a compiler. Works on older Debian and Ubuntu releases, because each program starts with the unpacked loader and
 * libraries. The first call downloads about 90 MB; later calls find the newest folder (its name contains the versions)
 * without the network. Delete the cache folder to get newer packages.
 *
 * @throws Error with the message of apt-get when the packages are not available
 */
export async function debianPrograms(): Promise<Programs> {
  return programsOf(await unpacked(SERVERS));
}

/** The folder of `pg_dump`, `pg_restore` and `psql`, downloaded in the same way; only tests of backups need them. */
export async function debianPostgresClients(): Promise<string> {
  return join(await unpacked(CLIENTS), POSTGRES_BIN);
}

/** PgBouncer, downloaded in the same way; only tests of connection poolers need it. */
export async function debianPgBouncer(): Promise<string> {
  return join(await unpacked(POOLER), ...POOLER.programs);
}

/** HAProxy, downloaded in the same way; only tests of load balancing need it. */
export async function debianBalancer(): Promise<string> {
  return join(await unpacked(BALANCER), ...BALANCER.programs);
}

/** Whether {@link debianPrograms} works without the network. */
export async function hasDebianPrograms(): Promise<boolean> {
  return (await newestComplete(cacheFolder(), SERVERS)) !== null;
}

/** Prometheus's checker of rules (promtool), downloaded in the same way. */
export async function debianPromtool(): Promise<string> {
  return join(await unpacked(PROMTOOL), ...PROMTOOL.programs);
}

async function unpacked(bundle: Bundle): Promise<string> {
  const cache = cacheFolder();
  return (await newestComplete(cache, bundle)) ?? (await unpack(cache, bundle));
}

async function newestComplete(cache: string, { cachePrefix }: Bundle): Promise<string | null> {
  const prefix = `${cachePrefix}${RELEASE}-${process.arch}-layout${LAYOUT}-`;
  const names = (await readdir(cache).catch(() => [])).filter((name) => name.startsWith(prefix));
  const made = await Promise.all(
    names.map(async (name) => {
      const status = await stat(join(cache, name, COMPLETE)).catch(() => null);
      return { folder: join(cache, name), time: status?.mtimeMs ?? 0 };
    }),
  );
  return made.filter(({ time }) => time > 0).sort((a, b) => b.time - a.time)[0]?.folder ?? null;
}

async function unpack(cache: string, { cachePrefix, packages, programs }: Bundle): Promise<string> {
  await mkdir(cache, { recursive: true, mode: 0o755 });
  const work = join(cache, `making-${randomUUID()}`);
  try {
    const apt = await privateApt(join(work, 'apt'));
    await apt('update', '-qq');
    // Download all dependencies, including those installed on this machine: the unpacked folder must be complete.
    const uris = await apt('install', '--print-uris', '-qq', ...packages);
    const archives = uris.split('\n').flatMap((line) => {
      const file = line.split(' ')[1] ?? '';
      const [name = '', version = ''] = file.split('_').map(decodeURIComponent);
      return isNeeded(name, packages) ? [{ name, version }] : [];
    });
    const debs = join(work, 'apt', 'debs');
    await apt('download', '-qq', ...archives.map(({ name, version }) => `${name}=${version}`));
    const root = join(work, 'tree');
    await mkdir(root);
    for (const deb of await readdir(debs)) await run('dpkg-deb', ['--extract', join(debs, deb), root]);
    await writeStarters(root, programs);
    await rm(join(work, 'apt'), { recursive: true });
    await writeFile(join(root, COMPLETE), archives.map(({ name, version }) => `${name} ${version}\n`).join(''));
    await chmod(root, 0o755);
    const versions = packages.map((name) =>
      archives.find((archive) => archive.name === name)?.version.replace(/^\d+:/, ''),
    );
    const target = join(cache, `${cachePrefix}${RELEASE}-${process.arch}-layout${LAYOUT}-${versions.join('-')}`);
    // If another run has already created the folder, use that one.
    await rename(root, target).catch(() => access(join(target, COMPLETE)));
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Keeps libraries and the programs, with LLVM, which PostgreSQL's just-in-time compiler loads; no perl scripts. */
function isNeeded(name: string, packages: readonly string[]): boolean {
  if (/^libperl|-perl$|^libjs-/.test(name)) return false;
  return /^lib|^redis-|^netbase$/.test(name) || packages.includes(name);
}

/** An apt-get with separate lists, cache and sources, for which no package is installed. */
async function privateApt(folder: string): Promise<(...args: string[]) => Promise<string>> {
  await mkdir(join(folder, 'lists', 'partial'), { recursive: true });
  await mkdir(join(folder, 'archives', 'partial'), { recursive: true });
  await mkdir(join(folder, 'debs'));
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
  await writeFile(
    join(folder, 'sources.list'),
    `deb [signed-by=${keyring}] http://deb.debian.org/debian ${RELEASE} main\n`,
  );
  const settings: Record<string, string> = {
    'Dir::State': folder,
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': folder,
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'APT::Install-Recommends': 'false',
    'APT::Sandbox::User': '',
    'Acquire::Retries': '3',
    'Debug::NoLocking': 'true',
  };
  await writeFile(
    join(folder, 'apt.conf'),
    Object.entries(settings)
      .map(([name, value]) => `${name} "${value}";\n`)
      .join(''),
  );
  const env = { ...process.env, APT_CONFIG: join(folder, 'apt.conf'), LC_ALL: 'C' };
  return async (...args) => {
    try {
      const { stdout } = await run('apt-get', args, { env, cwd: join(folder, 'debs'), maxBuffer: 1 << 24 });
      return stdout;
    } catch (error) {
      const said = (error as { stderr?: string }).stderr?.trim() || (error as Error).message;
      throw new Error(`apt-get ${args[0]}: ${said}`, { cause: error });
    }
  };
}

/**
 * Moves each program aside and puts a start script in its place. The path matters: PostgreSQL finds its other files
 * relative to it.
 */
async function writeStarters(root: string, programs: readonly string[]): Promise<void> {
  const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const loader = process.arch === 'arm64' ? 'ld-linux-aarch64.so.1' : 'ld-linux-x86-64.so.2';
  for (const program of programs) {
    const path = join(root, program);
    await rename(path, `${path}.program`);
    await writeFile(
      path,
      `#!/bin/sh
# Found from this file, so that the folder may move.
root="$(cd "$(dirname "$0")/${'../'.repeat(program.split('/').length - 1)}" && pwd)"
exec "$root/usr/lib/${triplet}/${loader}" --library-path "$root/usr/lib/${triplet}" --argv0 "$0" \\
  "$root/${program}.program" "$@"
`,
      { mode: 0o755 },
    );
  }
}

function programsOf(root: string): Programs {
  return {
    initdb: join(root, POSTGRES_BIN, 'initdb'),
    postgres: join(root, POSTGRES_BIN, 'postgres'),
    redis: join(root, 'usr/bin/redis-server'),
  };
}
