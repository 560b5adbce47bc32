// npm run pack: writes what npm and pip install into dist/: akin-search-<version>.tgz (the command),
// akin-client-<version>.tgz (the client) and akin_client-<version>-py3-none-any.whl (the client for Python, if there is a
// Python). They can be installed without this workspace. None of our packages has to be in a registry.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithNpm, prepare, ROOT } from './prepare.mjs';

/**
 * Packages that the command contains: ours, which no registry has, and TensorFlow.js, of which 5 of 50 MB are
 * for Node. They are copied as they are, so that workers, models and WebAssembly lie where the code looks for them.
 */
const BUNDLED_PACKAGES = /^@(akin|tensorflow)\//;
/** Files that are not needed to run akin. */
const UNREAD = /\.(d\.[cm]?ts|map|tsbuildinfo)$|\.test\.js$/;
/** What operators need, which the package and the image contain in the folder `operations`. */
const FOR_OPERATORS = ['scripts/backup.sh', 'scripts/restore.sh', 'grafana', 'prometheus', 'proxy', 'systemd'];
const OF_TENSORFLOW = /^dist\/([^/]+\.node\.js|[^/]+\.wasm)$|^(package\.json|LICENSE.*|README\.md)$/;

/**
 * @param {string} folder folder for the tarballs, and for the folders that they are made of
 * @returns {Promise<string[]>} paths of the tarballs
 */
export async function pack(folder) {
  rmSync(folder, { recursive: true, force: true });
  const command = stageCommand(join(folder, 'akin-search'));
  const client = await stageClient(join(folder, 'akin-client'));
  return [...[command, client].map((staged) => tarball(staged, folder)), ...wheel(folder)];
}

function wheel(folder) {
  const source = join(ROOT, 'clients/python');
  const python = spawnSync('python3', [join(source, 'build_wheel.py'), folder], { encoding: 'utf8' });
  if (python.error?.code === 'ENOENT') {
    process.stderr.write('No wheel of the client for Python: python3 is missing.\n');
    return [];
  }
  if (python.status !== 0) throw new Error(`The wheel of the client for Python was not made:\n${python.stderr}`);
  return [join(folder, python.stdout.trim())];
}

function stageCommand(stage) {
  const source = join(ROOT, 'apps/akin');
  const manifest = published(source);
  const dependencies = {};
  const bundled = new Set();
  copyPackage(source, stage);
  const collect = (from) => {
    for (const [name, version] of Object.entries(readManifest(from).dependencies ?? {})) {
      if (/^@types\/|^@webgpu\/|-backend-cpu$/.test(name)) continue;
      if (BUNDLED_PACKAGES.test(name)) {
        if (bundled.has(name)) continue;
        bundled.add(name);
        const found = packageFolder(name, from);
        copyPackage(found, join(stage, 'node_modules', name));
        // The web page is bundled: its build already contains its dependencies.
        if (!existsSync(join(found, 'vite.config.ts'))) collect(found);
      } else if ((dependencies[name] ?? version) !== version) {
        throw new Error(`${name} is wanted as ${version} and as ${dependencies[name]}: let them agree.`);
      } else {
        dependencies[name] = version;
      }
    }
  };
  collect(source);
  const names = [...bundled].sort();
  for (const name of names) dependencies[name] = readManifest(join(stage, 'node_modules', name)).version;
  for (const path of FOR_OPERATORS) {
    cpSync(join(ROOT, 'infra', path), join(stage, 'operations', basename(path)), {
      recursive: true,
      filter: (file) => !file.endsWith('.test.yaml'),
    });
  }
  const files = [...manifest.files, 'operations'];
  writeManifest(stage, { ...manifest, files, dependencies: sorted(dependencies), bundleDependencies: names });
  return stage;
}

async function stageClient(stage) {
  const source = join(ROOT, 'packages/client');
  // It is imported only here, because `prepare` installs it.
  const { rolldown } = await import('rolldown');
  const { dependencies: _, name: __, ...manifest } = published(source);
  const bundle = await rolldown({ input: join(source, 'dist/index.js'), platform: 'neutral' });
  await bundle.write({ dir: join(stage, 'dist'), format: 'esm', entryFileNames: 'index.js' });
  await bundle.close();
  // The types of the packages that it needs are written next to its own, and stay behind.
  const written = join(stage, '..', 'types');
  const tsc = spawnSync(
    process.execPath,
    [
      ...[join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', source, '--noEmit', 'false'],
      ...['--declaration', '--emitDeclarationOnly', '--rootDir', join(ROOT, 'packages'), '--outDir', written],
    ],
    { encoding: 'utf8' },
  );
  if (tsc.status !== 0) throw new Error(`The types of the client were not written:\n${tsc.stdout}${tsc.stderr}`);
  const types = join(written, 'client/src');
  for (const file of readdirSync(types)) {
    if (file.endsWith('.test.d.ts')) continue;
    const text = readFileSync(join(types, file), 'utf8');
    if (text.includes('@akin/')) {
      throw new Error(`The types of packages/client/src/${file} need a package that users do not have.`);
    }
    // Older compilers do not read `.ts` in imports as a file of types.
    writeFileSync(join(stage, 'dist', file), text.replace(/( from '\.\/[^']+)\.ts'/g, "$1.js'"));
  }
  rmSync(written, { recursive: true });
  for (const paper of ['README.md', 'CHANGELOG.md']) copyIfThere(join(source, paper), join(stage, paper));
  const exports = { '.': { types: './dist/index.d.ts', default: './dist/index.js' } };
  writeManifest(stage, { name: 'akin-client', ...manifest, exports });
  return stage;
}

/** Copies a package without the parts that only its development needs. */
function copyPackage(from, to) {
  const { name, files = [] } = readManifest(from);
  mkdirSync(to, { recursive: true });
  const isOurs = !name.startsWith('@tensorflow/');
  if (!isOurs) copyMatching(from, to, (path) => OF_TENSORFLOW.test(path));
  for (const file of isOurs ? files : []) {
    if (!existsSync(join(from, file))) throw new Error(`${name} lacks ${file}: is everything built?`);
    cpSync(join(from, file), join(to, file), { recursive: true, filter: (path) => !UNREAD.test(path) });
  }
  // The package of the command lists the dependencies of the bundled packages itself, with versions that npm has.
  const { devDependencies: _, scripts: __, dependencies: ___, ...manifest } = readManifest(from);
  writeManifest(to, manifest);
  for (const paper of ['README.md', 'CHANGELOG.md']) copyIfThere(join(from, paper), join(to, paper));
}

function copyMatching(from, to, wanted, below = '') {
  for (const entry of readdirSync(join(from, below), { withFileTypes: true })) {
    const path = below ? `${below}/${entry.name}` : entry.name;
    if (entry.isDirectory() && path === 'dist') copyMatching(from, to, wanted, path);
    else if (entry.isFile() && wanted(path)) cpSync(join(from, path), join(to, path));
  }
}

/** The manifest of a package as users get it. The release workflow says where the repository is, so no file has to. */
function published(folder) {
  const { private: _, devDependencies: __, scripts: ___, ...all } = readManifest(folder);
  const manifest = { ...all, files: [...all.files, 'CHANGELOG.md', 'NOTICE'] };
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
  if (!server || !repository) return manifest;
  return { ...manifest, repository: { type: 'git', url: `git+${server}/${repository}.git` } };
}

function tarball(stage, folder) {
  for (const paper of ['LICENSE', 'NOTICE']) copyIfThere(join(ROOT, paper), join(stage, paper));
  const npm = spawnSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: stage,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (npm.status !== 0) throw new Error(`npm pack failed in ${stage}:\n${npm.stderr}`);
  const [{ filename, size, unpackedSize, entryCount }] = JSON.parse(npm.stdout);
  process.stderr.write(`${filename}: ${megabytes(size)}, ${entryCount} files, ${megabytes(unpackedSize)} unpacked\n`);
  return join(folder, filename);
}

/** Finds the folder of a dependency, also if its `exports` do not allow `require`. */
function packageFolder(name, from) {
  for (let folder = realpathSync(from); folder !== dirname(folder); folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate);
  }
  throw new Error(`${name}, which ${from} needs, is not installed.`);
}

function copyIfThere(from, to) {
  if (existsSync(from)) cpSync(from, to);
}

const readManifest = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

function writeManifest(folder, manifest) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

const sorted = (record) => Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  endWithNpm();
  await prepare();
  for (const file of await pack(join(ROOT, 'dist'))) process.stdout.write(`${file}\n`);
}
