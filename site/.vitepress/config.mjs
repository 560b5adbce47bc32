import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Where source files are shown, such as https://git.example/akin/blob/main; without it they are named, not linked. */
const SOURCES = process.env.AKIN_SOURCES;
const PAGES =
  /^(README|CONTRIBUTING|SECURITY|CODE_OF_CONDUCT)\.md$|^docs\/|^examples\/README\.md$|^packages\/[a-z]+\/README\.md$/;

/** A module of this folder, as Vite bundles it. */
const installed = (name) => fileURLToPath(import.meta.resolve(name));

const pages = (...names) => names.map((name) => ({ text: TITLES[name], link: `/docs/${name}` }));
const TITLES = {
  photos: 'Photos at home',
  shop: 'A shop',
  bulk: 'A pipeline',
  operations: 'A fleet',
  scaling: 'A large fleet',
  containers: 'Containers and Kubernetes',
  servers: 'Servers',
  shards: 'Shards',
  backup: 'Backup and restore',
  monitoring: 'Monitoring',
  troubleshooting: 'Troubleshooting',
  upgrades: 'Upgrades',
  clients: 'Clients of Solr and Flow',
  comparison: 'Compared with others',
  search: 'Searching',
  colors: 'Colours',
  'tags-and-groups': 'Tags and groups',
  'content-models': 'Content models',
  heic: 'Photos of iPhones',
  keys: 'Keys',
  python: 'Python',
  mcp: 'Agents (MCP)',
  backends: 'Backends',
  ARCHITECTURE: 'Architecture',
  glossary: 'Glossary',
  quality: 'Quality',
  benchmarks: 'Benchmarks',
  experiments: 'Experiments',
};

export default {
  title: 'akin',
  description: 'Image-similarity search: store documents with a picture, ask what looks like this.',
  base: process.env.AKIN_SITE_BASE ?? '/',
  srcDir: '..',
  srcExclude: ['**/CHANGELOG.md', '.changeset/**', 'apps/**', 'site/**', 'dist/**'],
  outDir: './dist',
  cacheDir: './.vitepress/cache',
  cleanUrls: true,
  rewrites: { 'README.md': 'index.md', 'docs/README.md': 'docs/index.md' },
  // A page may name things in braces and angle brackets: it is text, not a template.
  markdown: { html: false, config: (markdown) => linkSources(markdown) },
  // Pages lie outside of the folder that has what they are built with.
  vite: {
    resolve: {
      alias: {
        'vue/server-renderer': installed('vue/server-renderer'),
        vue: installed('vue/dist/vue.runtime.esm-bundler.js'),
      },
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: 'Examples', link: '/examples/README' },
      { text: 'Client', link: '/packages/client/README' },
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          { text: 'akin', link: '/' },
          { text: 'By reader', link: '/docs/' },
        ],
      },
      { text: 'You have', items: pages('photos', 'shop', 'bulk', 'operations', 'clients', 'comparison') },
      {
        text: 'Use',
        items: pages(
          'search',
          'colors',
          'tags-and-groups',
          'content-models',
          'heic',
          'keys',
          'python',
          'mcp',
          'backends',
        ),
      },
      {
        text: 'Operate',
        items: pages(
          'containers',
          'servers',
          'scaling',
          'shards',
          'backup',
          'monitoring',
          'troubleshooting',
          'upgrades',
        ),
      },
      {
        text: 'Contribute',
        items: [
          { text: 'How', link: '/CONTRIBUTING' },
          ...pages('ARCHITECTURE', 'glossary'),
          { text: 'Decisions', link: '/docs/adr/README' },
        ],
      },
      { text: 'Measured', items: pages('quality', 'benchmarks', 'experiments') },
    ],
    outline: [2, 3],
  },
  /** The list of pages for language models, and each page as it was written. */
  async buildEnd({ outDir, pages, rewrites }) {
    const lines = [];
    for (const file of pages.filter((name) => PAGES.test(name)).sort()) {
      const text = await readFile(path.join(ROOT, file), 'utf8');
      const name = rewrites.map[file] ?? file;
      await mkdir(path.join(outDir, path.dirname(name)), { recursive: true });
      await writeFile(path.join(outDir, name), text);
      lines.push(`- [${/^# (.+)$/m.exec(text)?.[1] ?? file}](/${name})`);
    }
    await writeFile(
      path.join(outDir, 'llms.txt'),
      `# akin\n\n> Image-similarity search over HTTP.\n\n${lines.join('\n')}\n`,
    );
  },
};

/** Links to files that are no pages lead to where the sources are, where that is known. */
function linkSources(markdown) {
  const usual =
    markdown.renderer.rules.link_open ??
    ((tokens, index, options, _env, self) => self.renderToken(tokens, index, options));
  markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const target = token.attrGet('href') ?? '';
    if (!/^([a-z]+:|#|\/)/.test(target)) {
      const file = path.relative(
        ROOT,
        path.resolve(ROOT, path.dirname(env.relativePath), decodeURI(target.replace(/#.*$/, ''))),
      );
      if (!PAGES.test(file) && existsSync(path.join(ROOT, file))) {
        token.attrSet('href', SOURCES ? `${SOURCES}/${file}` : '#');
        if (!SOURCES) token.attrSet('title', file);
        return self.renderToken(tokens, index, options);
      }
    }
    return usual(tokens, index, options, env, self);
  };
}
