import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { EndedCommand } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { commandsInTurn, runAkin, runInTurn } from '../test/run-akin.ts';

const EVERY_DAY = [
  'serve',
  'index',
  'status',
  'analyze',
  'import',
  'export',
  'reindex',
  'models',
  'keys',
  'backup',
  'restore',
];
const FLEET = ['gateway', 'indexer', 'analyzer', 'analyze-node'];

describe('the command akin', () => {
  /** A folder with a store, which the first test with it creates. */
  let store: string;
  beforeAll(async () => {
    store = await mkdtemp(path.join(tmpdir(), "akin's store "));
  });
  afterAll(() => rm(store, { recursive: true }));

  it('lists its commands', async () => {
    for (const { code, out, err } of await runInTurn(['--help'], ['-h'], ['help'])) {
      expect([code, err]).toEqual([0, '']);
      const [everyDay, fleet] = out.split('Processes of a fleet');
      for (const name of EVERY_DAY) expect(everyDay).toMatch(new RegExp(`^  ${name} .*\\S$`, 'm'));
      for (const name of FLEET) expect(fleet).toMatch(new RegExp(`^  ${name} .*\\S$`, 'm'));
    }
  });

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    const printed = { code: 0, out: `${version}\n`, err: '' };
    expect(await runInTurn(['--version'], ['-v'], ['version'])).toEqual([printed, printed, printed]);
  });

  it('loads neither the gateway nor the store to import', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'akin-coverage-'));
    expect((await runAkin(['import', '--help'], { env: { NODE_V8_COVERAGE: folder } })).code).toBe(0);
    const loaded = readdirSync(folder).map((file) => readFileSync(path.join(folder, file), 'utf8'));
    await rm(folder, { recursive: true });
    expect(loaded.join('')).toContain('/import-command.js');
    expect(loaded.join('')).not.toMatch(/(gateway|store)\/dist/);
  });

  it('notices a used port before it creates a database', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const data = path.join(tmpdir(), `akin-taken-port-${process.pid}`);
    const [ended] = await runInTurn(['serve', '--port', String(port), '--no-demo', '--data', data]);
    taken.close();
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining(`Port ${port} is in use`) });
    expect(existsSync(data)).toBe(false);
  });

  it('prints a command to paste that creates the first key', async () => {
    const { code, out, err } = await runAkin(['serve', '--host', '0.0.0.0', '--port', '0', '--data', store]);
    expect([code, out, err]).toEqual([1, '', expect.stringContaining('--allow-open-network')]);
    const [, command = ''] = /^ {2}(node .*)$/m.exec(err) ?? [];
    expect(execFileSync('sh', ['-c', command], { encoding: 'utf8', stdio: 'pipe' })).toMatch(/^akin_\w+\n$/);
  });

  it('uses the store that the command names, even if the environment has the URL of an akin or a database', async () => {
    const env = { AKIN_URL: 'http://127.0.0.1:9', DATABASE_URL: 'postgres://127.0.0.1:1/x' };
    await using commands = commandsInTurn(env);
    const saved = await commands.run(['backup', path.join(store, 'saved'), '--data', store]);
    expect([saved.code, saved.err]).toEqual([0, '']);
    const exported = await commands.run(['export', '--data', store]);
    expect([exported.code, exported.err]).toEqual([1, expect.stringContaining(`No akin serves from ${store}: `)]);
    const { code, err } = await commands.run(['keys', 'list']);
    expect([code, err]).toEqual([1, expect.stringContaining(env.AKIN_URL)]);
  });

  it('says why an akin that answers is not ready', async () => {
    const waiting = createHttpServer((_, response) => {
      response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"msg":"Waits for a first key."}}');
    });
    await new Promise<void>((resolve) => waiting.listen(0, '127.0.0.1', resolve));
    const { port } = waiting.address() as AddressInfo;
    // Neither opens a second store.
    const data = path.join(tmpdir(), `akin-not-ready-${process.pid}`);
    const ended = await runInTurn(
      ['export', '--url', `http://127.0.0.1:${port}`],
      ['index', '.', '--port', String(port), '--data', data],
    );
    waiting.close();
    for (const { code, err } of ended) {
      expect([code, err]).toEqual([1, `The server at http://127.0.0.1:${port} is not ready: Waits for a first key.\n`]);
    }
    expect(existsSync(data)).toBe(false);
  });

  it('says where a server redirects to', async () => {
    const elsewhere = createHttpServer((_, response) => {
      response.writeHead(308, { location: 'https://127.0.0.1/' }).end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const { port } = elsewhere.address() as AddressInfo;
    const [ended] = await runInTurn(['export', '--url', `http://127.0.0.1:${port}`]);
    elsewhere.close();
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('It redirects to https://127.0.0.1/: give') });
  });

  it('is refused in a separate process as in a shared one', async () => {
    const { code, out, err } = await runAkin(['fly']);
    expect([code, out, err]).toEqual([1, '', expect.stringContaining('no command fly')]);
  });
});

const REFUSED: readonly (readonly [args: readonly string[], message: RegExp])[] = [
  [['fly'], /no command fly/],
  [['serve', '/no/such folder'], /^\/no\/such folder: it does not exist\.$/m],
  [['constructor'], /no command constructor/],
  [['analyze', '--thread', '1', 'x.jpg'], /--thread.*akin analyze --help/s],
  [['analyze'], /Name files/],
  [['analyze', '--threads', 'many', 'x.jpg'], /--threads .* must be a whole number/],
  [['analyze', '--modules', 'colour', 'x.jpg'], /colour/],
  [['analyze', '--backend', 'gpu', 'x.jpg'], /^--backend \(or AKIN_BACKEND\) must be one of auto, wasm, onnx\.$/m],
  [['index'], /Name a folder/],
  [['index', '.', '--url', 'http://127.0.0.1:9'], /^No akin answers at http:\/\/127\.0\.0\.1:9\.$/m],
  [['import', import.meta.filename, '--url', 'http://127.0.0.1:9'], /No akin answers/],
  [['keys', 'list', '--url', 'http://127.0.0.1:9'], /http:\/\/127\.0\.0\.1:9/],
  [['index', '.', '--url', 'http://127.0.0.1:9', '--port', '9'], /--port and --url .* exclude each other/],
  [['indexer', '--port', '0'], /^--database-url \(or DATABASE_URL\) must name the database\.$/m],
  [['analyze-node', '--host', '0.0.0.0', '--port', '0'], /AKIN_FLEET_KEY/],
  [['status', 'shop'], /takes only options, not "shop"/],
  [['indexer', 'shop'], /takes only options, not "shop"/],
  [['backup'], /Name one file/],
  [['backup', 'x', '--data', tmpdir()], /no store in .*--data/],
  [['import', tmpdir()], /is a folder/],
  [['serve', '--port', '99999999999'], /--port/],
  [['serve', '--port', '0', '--database-url', 'localhost/akin'], /--database-url .* postgres:\/\//],
  [
    ['serve', '--port', '0', '--database-url', 'postgres://127.0.0.1:1/x'],
    /cannot be reached.*ECONNREFUSED 127.0.0.1:1/,
  ],
  [['indexer', '--database-url', 'postgres://127.0.0.1:1/x', '--redis-url', '127.0.0.1'], /--redis-url .* redis:\/\//],
  [['serve', '--log-level', 'loud'], /--log-level must be one of/],
  [
    [
      'gateway',
      '--port',
      '0',
      '--database-url',
      'postgres://a/b',
      '--search-database-url',
      'postgres://a/b,http://secret',
    ],
    /begin/,
  ],
  [['serve', '--port', '0', '--search-database-url', 'postgres://secret/b'], /--database-url/],
];

/** Folders that cannot be created: below a file, and in /proc, where Node's recursive mkdir never ends. */
const NO_FOLDERS = [path.join(import.meta.filename, 'data'), ...(process.platform === 'linux' ? ['/proc/foo'] : [])];
const IN_A_FOLDER = [
  ['serve', '--port', '0', '--no-open'],
  ['index', '.', '--port', '1'],
  ['keys', 'list'],
  ['backup', '/dev/null'],
  ['restore', '/dev/null'],
].flatMap((command) => NO_FOLDERS.map((folder) => [...command, '--data', folder]));

describe('each of many commands', () => {
  let helped: EndedCommand[];
  let refused: EndedCommand[];
  let withoutFolder: EndedCommand[];
  beforeAll(async () => {
    helped = await runInTurn(...EVERY_DAY.map((name) => [name, '--help']));
    refused = await runInTurn(...REFUSED.map(([args]) => args));
    withoutFolder = await runInTurn(...IN_A_FOLDER);
  });

  it.each([...EVERY_DAY.entries()])('explains all of its flags (%d: %s)', (number, name) => {
    const { code, out, err } = helped[number] as EndedCommand;
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(new RegExp(`^Usage: akin ${name} `));
    expect(out).toMatch(/^ {2}--(data|modules|models|url|content-model) </m);
    for (const line of out.split('\n').filter((text) => text.startsWith('  --'))) {
      expect(line).toMatch(/^ {2}--[a-z-]+( <[a-z]+>)? +\S.* \[.*AKIN_[A-Z_]+.*\]$/);
    }
  });

  it.each(REFUSED.map(([args, message], number) => ({ args, message, number })))(
    'refuses $args with exit code 1 and a message instead of a stack',
    ({ message, number }) => {
      const { code, out, err } = refused[number] as EndedCommand;
      expect(err).toMatch(message);
      expect(err).not.toMatch(/^\s+at |secret/m);
      expect([code, out]).toEqual([1, '']);
    },
  );

  it.each([...IN_A_FOLDER.entries()])('says why its data folder cannot be used, and what to do (%d: %j)', (number) => {
    const { code, err } = withoutFolder[number] as EndedCommand;
    expect([code, err]).toEqual([1, expect.stringMatching(/^(The folder|There is no store in) \S+.*--data/s)]);
    expect(err).not.toContain('    at ');
  });
});
