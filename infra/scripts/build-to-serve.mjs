// Makes the first build of a clone. It builds only what `akin serve` runs, and does not check types: lint and the full
// build do that.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const VITE = 'node_modules/vite/bin/vite.js';

/**
 * Builds the packages that have changed since their last build.
 *
 * @param {string} root folder of the repository, with the dependencies that `--prod` installs
 * @param {(args: string[]) => Promise<void>} runNode runs one program of Node; rejects if it fails
 * @returns {Promise<string[]>} the folders of the packages that were built
 */
export async function buildToServe(root, runNode) {
  const known = readStamps(root);
  const stamps = packagesThatServe(root).map((folder) => [folder, stampOf(root, folder)]);
  const stale = stamps.filter(([folder, stamp]) => known[folder] !== stamp || !existsSync(join(folder, 'dist')));
  const folders = stale.map(([folder]) => folder);
  await Promise.all(folders.filter((folder) => !isPage(folder)).map(compile));
  // The page contains the built client, and the programs need other packages: they run after all are compiled.
  const programs = folders.map((folder) => (isPage(folder) ? [VITE, 'build', folder] : lastStep(folder)));
  await Promise.all(programs.filter(Boolean).map(runNode));
  writeFileSync(stampFile(root), JSON.stringify({ ...known, ...Object.fromEntries(stale) }));
  return folders;
}

/** Removes the types of all files of a package: all of them are compiled in this process, which takes a second. */
async function compile(folder) {
  // It is imported only here, because `prepare` installs it.
  const { transformWithOxc } = await import('vite');
  await Promise.all(
    sourcesOf(folder).map(async (file) => {
      const { code } = await transformWithOxc(readFileSync(file, 'utf8'), file, {
        lang: 'ts',
        target: 'es2023',
        tsconfig: false,
        sourcemap: false,
        typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' },
      });
      const compiled = join(folder, 'dist', file.slice(join(folder, 'src').length)).replace(/\.ts$/, '.js');
      mkdirSync(dirname(compiled), { recursive: true });
      writeFileSync(compiled, code);
    }),
  );
}

const sourcesOf = (folder) => filesOf(folder).filter((file) => /(?<!\.d|\.test)\.ts$/.test(file));

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
  for (const file of filesOf(folder)) hash.update(`${file}\0`).update(readFileSync(file));
  if (isPage(folder)) for (const needed of packagesNeededBy(folder)) hash.update(stampOf(root, needed));
  return hash.digest('hex');
}

const filesOf = (folder) =>
  readdirSync(join(folder, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

const stampFile = (root) => join(root, 'node_modules/.akin-built.json');

function readStamps(root) {
  try {
    return JSON.parse(readFileSync(stampFile(root), 'utf8'));
  } catch {
    return {};
  }
}
