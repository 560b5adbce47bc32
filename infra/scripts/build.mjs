// Compiles packages: it removes the types of their files, and does not check them, which lint does.
// In the folder of a package, `node <this file>` compiles that package alone.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const VITE = 'node_modules/vite/bin/vite.js';

/**
 * Builds packages, and those that they need, if they have changed since their last build.
 *
 * @param {string} root folder of the repository, with the dependencies that `--prod` installs
 * @param {string[]} packages folders of packages, such as `apps/akin`
 * @param {(args: string[]) => Promise<void>} runNode runs one program of Node; rejects if it fails
 * @returns {Promise<string[]>} the folders of the packages that were built
 */
export async function build(root, packages, runNode) {
  const known = readStamps(root);
  const stamps = withNeeded(root, packages).map((folder) => [folder, stampOf(root, folder)]);
  const stale = stamps.filter(([folder, stamp]) => known[folder] !== stamp || !existsSync(join(folder, 'dist')));
  const folders = stale.map(([folder]) => folder);
  await Promise.all(folders.filter((folder) => !isPage(folder)).map(compile));
  // The page contains other packages.
  for (const folder of folders.filter(isPage)) await runNode([VITE, 'build', folder]);
  writeFileSync(stampFile(root), JSON.stringify({ ...known, ...Object.fromEntries(stale) }));
  return folders;
}

/** All packages that have something to build. */
export function packagesToBuild(root) {
  return ['apps', 'packages']
    .flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`))
    .filter((folder) => existsSync(join(root, folder, 'package.json')));
}

/** Compiles all files of a package in this process, which takes a second for all packages together. */
async function compile(folder) {
  // It is imported only here, because `prepare` installs it.
  const { transformWithOxc } = await import('vite');
  await Promise.all(
    sourcesOf(folder).map(async (file) => {
      const { code, map } = await transformWithOxc(readFileSync(file, 'utf8'), file, {
        lang: 'ts',
        target: 'es2023',
        tsconfig: false,
        sourcemap: true,
        typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' },
      });
      const compiled = join(folder, 'dist', file.slice(join(folder, 'src').length)).replace(/\.ts$/, '.js');
      mkdirSync(dirname(compiled), { recursive: true });
      writeFileSync(compiled, `${code}//# sourceMappingURL=${basename(compiled)}.map\n`);
      // The sources are in the clone, wherever it lies.
      const sources = [relative(dirname(compiled), file)];
      writeFileSync(`${compiled}.map`, JSON.stringify({ ...map, sources, sourcesContent: undefined }));
    }),
  );
}

const sourcesOf = (folder) => filesOf(folder).filter((file) => file.endsWith('.ts'));

/** Packages of ours and all that they need, as folders. */
function withNeeded(root, packages) {
  const found = new Set();
  const add = (folder) => {
    if (found.has(folder)) return;
    found.add(folder);
    for (const needed of packagesNeededBy(folder)) add(needed);
  };
  for (const folder of packages) add(realpathSync(resolve(root, folder)));
  return [...found];
}

function packagesNeededBy(folder) {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.entries(dependencies)
    .filter(([, version]) => version.startsWith('workspace:'))
    .map(([name]) => realpathSync(join(folder, 'node_modules', name)));
}

const isPage = (folder) => existsSync(join(folder, 'vite.config.ts'));

/** Hash of the build inputs of a package. For a page it includes the packages that the page contains. */
function stampOf(root, folder) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'pnpm-lock.yaml')));
  const around = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  for (const file of [...around.map(({ name }) => join(folder, name)), ...filesOf(folder)])
    hash.update(`${file}\0`).update(readFileSync(file));
  if (isPage(folder)) for (const needed of packagesNeededBy(folder)) hash.update(stampOf(root, needed));
  return hash.digest('hex');
}

/** The source files without those of tests. */
const filesOf = (folder) =>
  readdirSync(join(folder, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.endsWith('.test.ts'))
    .sort();

const stampFile = (root) => join(root, 'node_modules/.akin-built.json');

function readStamps(root) {
  try {
    return JSON.parse(readFileSync(stampFile(root), 'utf8'));
  } catch {
    return {};
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await compile(process.cwd());
