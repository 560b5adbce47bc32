// Checks which package imports which. It prints every import that the table does not allow, and fails if there is one.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import swc from '@swc/core';

const VECTORS = ['@akin/modules/manifests', '@akin/modules/vectors'];

/**
 * One row for each package lists which of our packages it may import. The name of a package stands for all its entry
 * points. A longer name stands for one of them. Only the lab may import the entry point `internal` of modules.
 * `browser` means that the package runs in a browser too, so it imports nothing of Node.
 */
export const PACKAGES = {
  'packages/domain': { may: [], browser: true },
  'packages/runtime': { may: [] },
  'packages/testing': { may: [] },
  'packages/contract': { may: ['@akin/domain'], browser: true },
  'packages/client': { may: ['@akin/domain'], browser: true },
  'packages/imaging': { may: ['@akin/domain'] },
  'packages/modules': { may: ['@akin/domain', '@akin/imaging', '@akin/runtime'] },
  'packages/searcher': { may: ['@akin/domain'] },
  'packages/store': { may: ['@akin/domain', '@akin/runtime', '@akin/searcher'] },
  'packages/queue': { may: ['@akin/contract', '@akin/runtime'] },
  'apps/gateway': {
    may: ['@akin/contract', '@akin/domain', '@akin/store', '@akin/runtime', ...VECTORS],
  },
  'apps/analyzer': {
    may: ['@akin/contract', '@akin/domain', '@akin/modules', '@akin/imaging', '@akin/queue', '@akin/runtime'],
  },
  'apps/indexer': {
    may: ['@akin/contract', '@akin/domain', '@akin/store', '@akin/queue', '@akin/runtime', ...VECTORS],
  },
  'apps/web': { may: ['@akin/client', '@akin/domain', '@akin/modules/manifests'], browser: true },
  'apps/akin': {
    may: [
      ...['domain', 'client', 'imaging', 'modules', 'store', 'queue', 'runtime'].map((name) => `@akin/${name}`),
      ...['@akin/gateway', '@akin/analyzer', '@akin/indexer'],
      // This entry point is imported only to find the folder of the built page, which the gateway serves.
      '@akin/web/package.json',
    ],
  },
  lab: { may: ['@akin/domain', '@akin/imaging', '@akin/modules', '@akin/searcher'] },
  e2e: { may: ['@akin/client', 'akin-search'] },
  bench: {
    may: [
      ...['domain', 'lab', 'modules', 'searcher', 'store', 'testing'].map((name) => `@akin/${name}`),
      'akin-search',
    ],
  },
};

/**
 * Tests, and code that only tests and measurements use, may also import these packages and all development dependencies
 * of their package or of the root.
 */
const TESTS_MAY = ['@akin/testing'];

/** Packages that contain only tests, measurements and training. */
const DEVELOPMENT_PACKAGES = ['e2e', 'bench', 'lab'];

/**
 * The folders in `src` of a package, lowest first: a file in them imports none of a higher folder, or of `src` itself.
 * Tests do.
 */
const LAYERS = { 'packages/store': ['database', 'search', 'changes', 'maintenance'] };

/**
 * Entry points for code that only compares vectors. They must load neither a network nor an image decoder, directly or
 * indirectly.
 */
const LIGHT_ENTRY_POINTS = {
  files: ['packages/modules/src/manifests.ts', 'packages/modules/src/vectors.ts'],
  without: ['@tensorflow/', 'piscina', 'sharp', '@akin/imaging'],
};

/**
 * Finds every violation in a folder with the layout of this repository, as `file: what is wrong`.
 *
 * @param {string} root
 * @returns {string[]}
 */
export function findViolations(root) {
  const rootPackage = readJson(join(root, 'package.json'));
  const folders = [
    ...foldersIn(root, 'packages'),
    ...foldersIn(root, 'apps'),
    ...foldersIn(root, '.', DEVELOPMENT_PACKAGES),
  ];
  return [
    ...folders.flatMap((folder) => violationsOf(root, folder, rootPackage)),
    ...folders.flatMap((folder) => importCyclesOf(root, folder)),
    ...heavyImports(root),
  ];
}

function foldersIn(root, parent, only) {
  const names = only ?? (existsSync(join(root, parent)) ? readdirSync(join(root, parent)) : []);
  return names.map((name) => join(parent, name)).filter((folder) => existsSync(join(root, folder, 'package.json')));
}

function violationsOf(root, folder, rootPackage) {
  const row = PACKAGES[folder];
  if (row === undefined) return [`${folder}: has no row in the table of infra/scripts/lint-imports.mjs`];
  const manifest = readJson(join(root, folder, 'package.json'));
  const found = [];
  const report = (file, text) => found.push(`${relative(root, file)}: ${text}`);
  for (const [kind, may] of [
    ['dependencies', row.may],
    ['devDependencies', [...row.may, ...TESTS_MAY]],
  ]) {
    for (const name of Object.keys(manifest[kind] ?? {}).filter(isOurs)) {
      const allowed = may.some((allowedName) => packageOf(allowedName) === name);
      if (!allowed) report(join(root, folder, 'package.json'), `${kind} may not name ${name}`);
    }
  }
  const declared = Object.keys({
    ...manifest.dependencies,
    ...manifest.peerDependencies,
    ...manifest.optionalDependencies,
  });
  const forTests = Object.keys({
    ...manifest.devDependencies,
    ...rootPackage.dependencies,
    ...rootPackage.devDependencies,
  });
  for (const file of sourceFiles(join(root, folder))) {
    const isTest = DEVELOPMENT_PACKAGES.includes(folder) || isTestFile(relative(join(root, folder), file));
    for (const { name, typeOnly } of importsOf(file)) {
      if (name.startsWith('.')) {
        const target = relative(join(root, folder), resolve(dirname(file), name));
        if (target.startsWith('..')) report(file, `reaches out of its package: ${name}`);
        else if (!isTest && isAbove(folder, target, relative(join(root, folder), file)))
          report(file, `may not import ${name} of a higher layer`);
        continue;
      }
      if (name.startsWith('node:') || builtinModules.includes(name)) {
        if (row.browser && !isTest && !isBuildFile(file)) report(file, `runs in browsers, which have no ${name}`);
        continue;
      }
      const packageName = packageOf(name);
      if (packageName === manifest.name) continue;
      if (isOurs(packageName)) {
        const may = isTest ? [...row.may, ...TESTS_MAY] : row.may;
        const inside = name.includes('/internal/') && folder !== 'lab';
        if (inside || (!may.includes(name) && !may.includes(packageName))) report(file, `may not import ${name}`);
      }
      const known = isTest || typeOnly || isBuildFile(file) ? [...declared, ...forTests] : declared;
      const typed = typeOnly && known.includes(`@types/${packageName}`);
      if (!known.includes(packageName) && !typed)
        report(file, `imports ${packageName}, which its package.json does not name`);
    }
  }
  return found;
}

/** Whether one file of a package, such as `src/changes/context.ts`, is in a higher layer than another. */
function isAbove(folder, one, other) {
  const layers = LAYERS[folder] ?? [];
  const [height, least] = [one, other].map((path) => layers.indexOf(path.split(sep)[1]));
  return least >= 0 && (height > least || height < 0);
}

/**
 * Finds import cycles between files of a package, including imports of types. It reports the shortest cycle of a file.
 */
function importCyclesOf(root, folder) {
  const files = sourceFiles(join(root, folder));
  const imports = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter(({ name }) => name.startsWith('.'))
        .map(({ name }) => resolve(dirname(file), name)),
    ]),
  );
  const reported = new Set();
  return files.flatMap((file) => {
    const circle = shortestCycle(imports, file);
    if (circle === undefined || circle.some((one) => reported.has(one))) return [];
    for (const one of circle) reported.add(one);
    const [first, ...rest] = circle.map((one) => relative(join(root, folder), one));
    return [`${relative(root, file)}: imports in a circle: ${[first, ...rest, first].join(' -> ')}`];
  });
}

/** Finds the shortest cycle from a file back to itself, by breadth-first search. */
function shortestCycle(imports, file) {
  const from = new Map();
  const queue = [file];
  for (const one of queue) {
    for (const next of imports.get(one) ?? []) {
      if (next === file) {
        const way = [];
        for (let at = one; at !== undefined; at = from.get(at)) way.unshift(at);
        return way;
      }
      if (!from.has(next)) {
        from.set(next, one);
        queue.push(next);
      }
    }
  }
  return undefined;
}

/** Follows the light entry points through their own files and reports every heavy import on the way. */
function heavyImports(root) {
  const queue = LIGHT_ENTRY_POINTS.files.map((file) => join(root, file)).filter((file) => existsSync(file));
  const seen = new Set(queue);
  const found = [];
  for (const file of queue) {
    for (const { name, typeOnly } of importsOf(file)) {
      if (typeOnly) continue;
      if (
        LIGHT_ENTRY_POINTS.without.some((heavy) => name === heavy || (heavy.endsWith('/') && name.startsWith(heavy)))
      ) {
        found.push(`${relative(root, file)}: is loaded by a light entry point, so it may not import ${name}`);
      }
      const target = resolve(dirname(file), name);
      if (name.startsWith('.') && !seen.has(target) && existsSync(target)) {
        seen.add(target);
        queue.push(target);
      }
    }
  }
  return found;
}

const parsed = new Map();
/** These files are AssemblyScript: their decorators of functions are not valid in TypeScript. They import nothing. */
const ASSEMBLY_SCRIPT = join('kernel', 'kernel.ts');

/**
 * The imports of a file: static, dynamic with a plain string, re-exported, or named in a type. Each file is parsed
 * once.
 */
function importsOf(file) {
  if (!parsed.has(file)) parsed.set(file, parseImports(file));
  return parsed.get(file);
}

function parseImports(file) {
  if (!/\.(ts|mjs)$/.test(file) || file.endsWith(ASSEMBLY_SCRIPT)) return [];
  const found = [];
  const visit = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      node.forEach(visit);
      return;
    }
    if (/^(Import|ExportNamed|ExportAll)Declaration$/.test(node.type) && node.source) {
      found.push({ name: node.source.value, typeOnly: node.typeOnly === true });
    } else if (node.type === 'CallExpression' && node.callee.type === 'Import') {
      const first = node.arguments[0]?.expression;
      if (first?.type === 'StringLiteral') found.push({ name: first.value, typeOnly: false });
    } else if (node.type === 'TsImportType') {
      found.push({ name: node.argument.value, typeOnly: true });
    }
    Object.values(node).forEach(visit);
  };
  visit(swc.parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript', target: 'es2022' }).body);
  return found;
}

function sourceFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['node_modules', 'dist', '.turbo'].includes(entry.name) ? [] : sourceFiles(path);
    return /\.(ts|mjs)$/.test(entry.name) ? [path] : [];
  });
}

const isTestFile = (path) => /\.test\.ts$|(^|\/)(test|testing|bench)\//.test(path);
const isBuildFile = (file) => /vite\.config\.(ts|mjs)$/.test(file);
const isOurs = (name) => name === 'akin-search' || name.startsWith('@akin/');
const packageOf = (name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/');
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const violations = findViolations(fileURLToPath(new URL('../..', import.meta.url)));
  for (const violation of violations) console.error(violation);
  if (violations.length > 0) {
    console.error(`${violations.length} imports break the table in infra/scripts/lint-imports.mjs`);
    process.exitCode = 1;
  }
}
