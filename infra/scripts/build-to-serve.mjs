// Makes the first build of a clone. It builds only what `akin serve` runs, and does not check types: lint and the full
// build do that.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const TSC = 'node_modules/typescript/bin/tsc';
const VITE = 'node_modules/vite/bin/vite.js';

/**
 * Builds the packages that have changed since their last build, as many at a time as there are cores.
 *
 * @param {string} root folder of the repository, with the dependencies that `--prod` installs
 * @param {(args: string[]) => Promise<void>} runNode runs one program of Node; rejects if it fails
 */
export async function buildToServe(root, runNode) {
  const known = readStamps(root);
  const stale = packagesThatServe(root).filter(
    (folder) => known[folder] !== stampOf(root, folder) || !existsSync(join(folder, 'dist')),
  );
  const pages = stale.filter(isPage);
  const others = stale.filter((folder) => !isPage(folder));
  const build = async (folder, args) => {
    await runNode(args);
    known[folder] = stampOf(root, folder);
  };
  await forEach(others, availableParallelism(), (folder) =>
    build(folder, [TSC, '-p', folder, '--noCheck', '--declaration', 'false']),
  );
  // These programs need other packages, so they run after all of them are compiled.
  for (const folder of others.filter(lastStep)) await build(folder, lastStep(folder));
  // The page contains the built client.
  await forEach(pages, 1, (folder) => build(folder, [VITE, 'build', folder]));
  writeFileSync(stampFile(root), JSON.stringify(known));
}

/** The command and all packages of ours that it needs, as folders. */
function packagesThatServe(root) {
  const found = new Set();
  const add = (folder) => {
    if (found.has(folder)) return;
    found.add(folder);
    for (const needed of packagesNeededBy(folder)) add(needed);
  };
  add(realpathSync(join(root, 'apps/akin')));
  return [...found];
}

function packagesNeededBy(folder) {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.entries(dependencies)
    .filter(([, version]) => version.startsWith('workspace:'))
    .map(([name]) => realpathSync(join(folder, 'node_modules', name)));
}

/** The program that the build of a package runs after the compiler, if there is one. */
function lastStep(folder) {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const [, program] = / && node (\S+)$/.exec(scripts.build) ?? [];
  return program && [join(folder, program)];
}

const isPage = (folder) => existsSync(join(folder, 'vite.config.ts'));

/** Hash of the build inputs of a package. For a page it includes the packages that the page contains. */
function stampOf(root, folder) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'tsconfig.base.json')));
  for (const name of ['package.json', 'tsconfig.json']) hash.update(readFileSync(join(folder, name)));
  const files = readdirSync(join(folder, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file));
  if (isPage(folder)) for (const needed of packagesNeededBy(folder)) hash.update(stampOf(root, needed));
  return hash.digest('hex');
}

async function forEach(items, atATime, action) {
  const waiting = [...items];
  const work = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await action(item);
  };
  await Promise.all(Array.from({ length: atATime }, work));
}

const stampFile = (root) => join(root, 'node_modules/.akin-built.json');

function readStamps(root) {
  try {
    return JSON.parse(readFileSync(stampFile(root), 'utf8'));
  } catch {
    return {};
  }
}
