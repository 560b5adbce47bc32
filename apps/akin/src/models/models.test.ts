import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { sleep } from '@akin/runtime';
import { type CommandsInTurn, drawImage, smallDisk, TINY_TOWERS } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { commandsInTurn, PROGRAM } from '../../test/run-akin.ts';
import { chosenModel } from './chosen-model.ts';
import { ContentModels } from './content-models.ts';
import { download } from './download.ts';
import { isFirstStart, offerModel } from './first-model.ts';
import { type KnownModel, knownModel } from './known-models.ts';
import { ModelLibrary } from './model-library.ts';
import { pull as pullHere } from './pull.ts';

const WORD = 'siglip-base-patch16-224';
const VISION = 'onnx/vision_model.onnx';
/** Number of bytes of a file that a broken connection still sends. */
const BROUGHT = 100;
const NEVER = new AbortController().signal;

let server: Server;
let mirror: string;
let folder: string;
let commands: CommandsInTurn;
/** The requests to the server: path and range. */
const asked: string[] = [];
/** Files whose next responses are truncated. */
const breaking = new Map<string, number>();
const replaced = new Map<string, Buffer>();
/** Files whose responses never end; called when they start. */
const holding = new Map<string, () => void>();

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'akin-models-'));
  commands = commandsInTurn();
  server = createServer(async (request, response) => {
    if (request.url?.startsWith('/moved/')) {
      return void response.writeHead(302, { location: request.url.slice('/moved'.length) }).end();
    }
    const [, name = ''] = /^\/Xenova\/[\w-]+\/resolve\/[0-9a-f]{40}\/(.+)/.exec(request.url ?? '') ?? [];
    const bytes = replaced.get(name) ?? (await readFile(path.join(TINY_TOWERS, name)).catch(() => undefined));
    const { range } = request.headers;
    asked.push(`${name} ${range ?? 'whole'}`);
    if (bytes === undefined) return void response.writeHead(404).end();
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    if (from >= bytes.length) return void response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
    response.writeHead(range ? 206 : 200, {
      'content-length': bytes.length - from,
      ...(range ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {}),
    });
    if (holding.has(name))
      return void response.write(bytes.subarray(from, from + BROUGHT), () => holding.get(name)?.());
    const breaks = breaking.get(name) ?? 0;
    if (breaks === 0) return void response.end(bytes.subarray(from));
    breaking.set(name, breaks - 1);
    response.write(bytes.subarray(from, from + BROUGHT), () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  mirror = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

const models = (...args: string[]) => commands.run(['models', ...args, '--models', folder]);
const pull = () => models('pull', WORD, '--mirror', mirror);
const inModel = (...names: string[]) => path.join(folder, WORD, ...names);
const newRequests = () => asked.splice(0);

describe('akin models', () => {
  it('lists what can be downloaded, and downloads nothing', async () => {
    const { code, out } = await models();
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^siglip-base-patch16-224 +768 dimensions .*Apache-2\.0.*words$/m),
    ]);
    const unknown = await models('pull', 'other', '--mirror', mirror);
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('akin knows no model other')]);
    const missing = await commands.run(['analyze', '--models', folder, '--content-model', WORD, 'a.jpg']);
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining(`Download it: akin models pull ${WORD}`)]);
    expect(newRequests()).toEqual([]);
  });

  it('downloads a model, even if the connection breaks, and nothing twice', async () => {
    breaking.set(VISION, 2);
    const { code, out, err } = await pull();
    expect([code, out, err]).toEqual([
      0,
      `akin serve --content-model ${WORD}\n`,
      expect.stringContaining('vision_model.onnx: 0.0 of 0.0 MB, 100 %'),
    ]);
    const seen = newRequests().filter((line) => line.startsWith(VISION));
    // Some bytes that were sent before the break may be lost.
    expect(seen[0]).toBe(`${VISION} whole`);
    expect(seen).toHaveLength(3);
    expect(await readFile(inModel(VISION))).toEqual(await readFile(path.join(TINY_TOWERS, VISION)));
    expect((await models()).out).toMatch(/^siglip-base-patch16-224 .* here$/m);
    expect((await pull()).err).toContain('All files are here.');
    expect(newRequests()).toEqual([]);
  });

  it('gives the model to every command by its name', async () => {
    const picture = path.join(folder, 'a.jpg');
    await writeFile(picture, await drawImage({ width: 60, height: 40 }));
    const { code, out } = await commands.run(['analyze', '--models', folder, '--content-model', WORD, picture]);
    expect(code).toBe(0);
    const { content_descriptor } = JSON.parse((JSON.parse(out) as { outputs: string }).outputs);
    expect(Buffer.from(content_descriptor, 'base64').toString('latin1')).toContain('tiny-siglip:');
  });

  it('refuses a file that was changed here, and downloads it again', async () => {
    await truncate(inModel(VISION), (await stat(inModel(VISION))).size - 1);
    const use = await commands.run(['analyze', '--models', folder, '--content-model', WORD, 'a.jpg']);
    expect([use.code, use.err]).toEqual([1, expect.stringContaining('is not the file that was downloaded')]);
    expect((await pull()).code).toBe(0);
    expect(newRequests()).toEqual([`${VISION} whole`]);
  });

  it('deletes a file that differs from the first download', async () => {
    await rm(inModel(VISION));
    replaced.set(VISION, Buffer.from('something else'));
    const { code, err } = await pull();
    expect([code, err]).toEqual([1, expect.stringMatching(/is not the expected file: its SHA-256 is [0-9a-f]{64}/)]);
    await expect(stat(`${inModel(VISION)}.part`)).rejects.toThrow('ENOENT');
    replaced.clear();
    expect((await pull()).code).toBe(0);
  });

  it('says what is wrong with a mirror, and later continues where it stopped', async () => {
    const model = knownModel(WORD);
    const url = `${mirror}/${model?.repository}/resolve/${model?.revision}/${VISION}`;
    const file = path.join(folder, 'apart.onnx');
    const signal = new AbortController().signal;
    const wanted = { url, file, sha256: undefined };
    const give = () => download(wanted, () => {}, signal, 1);
    breaking.set(VISION, 1000);
    await writeFile(`${file}.part`, (await readFile(path.join(TINY_TOWERS, VISION))).subarray(0, 50));
    const nothing = { ...wanted, url: 'http://127.0.0.1:1/' };
    await expect(download(nothing, () => {}, signal, 1)).rejects.toThrow('was interrupted. Run the command again');
    breaking.clear();
    newRequests();
    await give();
    expect(newRequests()).toEqual([`${VISION} bytes=50-`]);
    expect(await readFile(file)).toEqual(await readFile(path.join(TINY_TOWERS, VISION)));
    await expect(download({ ...wanted, url: `${url}x` }, () => {}, signal, 1)).rejects.toThrow('answers 404');
    // The file was complete, but not in its place.
    await writeFile(`${file}.part`, await readFile(file));
    await give();
    expect((await stat(file)).size).toBe((await stat(path.join(TINY_TOWERS, VISION))).size);
  });

  it('does not repeat complete files after another one failed, even with a mirror that redirects', async () => {
    await rm(inModel(), { recursive: true });
    newRequests();
    replaced.set('onnx/text_model.onnx', Buffer.from('<html>'));
    expect(await pull()).toMatchObject({ code: 1, err: expect.stringContaining('text_model.onnx') });
    expect(newRequests()).toContain(`${VISION} whole`);
    expect((await models()).out).not.toMatch(new RegExp(`^${WORD} .* here$`, 'm'));
    replaced.clear();
    const { code } = await models('pull', WORD, '--mirror', `${mirror}/moved`);
    expect([code, newRequests()]).toEqual([0, ['onnx/text_model.onnx whole']]);
    expect((await models()).out).toMatch(new RegExp(`^${WORD} .* here$`, 'm'));
  });

  it('refuses other content than the file', async () => {
    await rm(inModel(), { recursive: true });
    for (const [sent, what] of [
      ['<!DOCTYPE html><title>Log in</title>', 'a page of a website'],
      ['version https://git-lfs.github.com/spec/v1\noid sha256:0', 'a pointer of Git LFS'],
    ] as const) {
      replaced.set('config.json', Buffer.from(sent));
      const { code, err } = await pull();
      expect([code, err]).toEqual([1, expect.stringContaining(`is not the expected file but ${what}.`)]);
      await expect(stat(inModel('config.json.part'))).rejects.toThrow('ENOENT');
    }
    replaced.clear();
  });

  it('stops at Ctrl-C, keeps the partial file and continues with it; two at once are refused', async () => {
    const begun = new Promise<void>((resolve) => holding.set(VISION, resolve));
    const args = ['models', 'pull', WORD, '--models', folder, '--mirror', mirror];
    const child = spawn(process.execPath, [PROGRAM, ...args]);
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      err += text;
    });
    const ended = once(child, 'close');
    await begun;
    while ((await stat(inModel(`${VISION}.part`)).catch(() => ({ size: 0 }))).size < BROUGHT) await sleep(5, NEVER);
    const second = await pull();
    expect([second.code, second.err]).toEqual([1, expect.stringContaining(`(process ${child.pid}): wait for it`)]);
    child.kill('SIGINT');
    expect([(await ended)[0], err]).toEqual([130, expect.stringContaining('Run the command again to continue.')]);
    holding.clear();
    newRequests();
    // Left by a killed process.
    await writeFile(inModel('akin-download.lock'), String(child.pid));
    expect((await pull()).code).toBe(0);
    expect(newRequests()[0]).toBe(`${VISION} bytes=${BROUGHT}-`);
    // Left by one that had the number of this process, as in a container.
    await writeFile(inModel('akin-download.lock'), String(process.pid));
    const model = knownModel(WORD) as KnownModel;
    expect(await pullHere({ model, folder: inModel(), mirror, progress: () => {} }, NEVER)).toBe(0);
    expect(await readdir(inModel())).not.toContain('akin-download.lock');
    expect(await readFile(inModel(VISION))).toEqual(await readFile(path.join(TINY_TOWERS, VISION)));
  });

  it('continues after a full disk, and lets no server fill one', async () => {
    await using disk = await smallDisk(1);
    const model = knownModel(WORD);
    const url = `${mirror}/${model?.repository}/resolve/${model?.revision}/${VISION}`;
    const file = path.join(disk.folder, 'onnx', 'model.onnx');
    const wanted = { url, file, sha256: undefined };
    await mkdir(path.dirname(file));
    await disk.fill();
    await expect(download(wanted, () => {}, NEVER, 1)).rejects.toThrow(
      /cannot be written \(ENOSPC\)\. Free some space/,
    );
    await disk.empty();
    await expect(download({ ...wanted, maxBytes: 10 }, () => {}, NEVER, 1)).rejects.toThrow('sends more than 1 MB');
    await expect(stat(`${file}.part`)).rejects.toThrow('ENOENT');
    await download(wanted, () => {}, NEVER, 1);
    expect(await readFile(file)).toEqual(await readFile(path.join(TINY_TOWERS, VISION)));
  });
});

describe('the models of a running akin', () => {
  /** With a folder of its own. */
  const opened = async (place: { folder: string; mirror?: string }) => {
    const models = new ContentModels({ models: place.folder });
    return new ModelLibrary({ models, log: { error: () => {} }, mirror: undefined, ...place });
  };
  const emptyFolder = () => mkdtemp(path.join(folder, 'library-'));
  const stateOf = async (library: ModelLibrary) => (await library.list()).find(({ name }) => name === WORD);
  const ended = async (library: ModelLibrary) => {
    while ((await stateOf(library))?.download?.state === 'running') await sleep(5, NEVER);
    return stateOf(library);
  };

  it('are listed with what they are good for, and downloaded with progress', async () => {
    await using library = await opened({ folder: await emptyFolder(), mirror });
    const known = { name: WORD, licence: 'Apache-2.0', numbers: 768, words: true, here: false, isDefault: false };
    expect(await stateOf(library)).toMatchObject(known);
    expect((await library.list())[0]).toMatchObject({ name: 'akin', words: false, here: true, isDefault: true });
    const begun = new Promise<void>((resolve) => holding.set(VISION, resolve));
    library.pull(WORD);
    library.pull(WORD);
    await begun;
    while (((await stateOf(library))?.download?.bytes ?? 0) < BROUGHT) await sleep(5, NEVER);
    expect(await stateOf(library)).toMatchObject({ here: false, download: { state: 'running' } });
    await library.stop(WORD);
    expect((await stateOf(library))?.download).toBeUndefined();
    holding.clear();
    library.pull(WORD);
    expect(await ended(library)).toEqual(expect.not.objectContaining({ download: expect.anything() }));
    expect(await stateOf(library)).toMatchObject({ here: true });
  });

  it('say why a download failed, without a path, and continue it', async () => {
    const place = await emptyFolder();
    await using library = await opened({ folder: place, mirror });
    replaced.set('tokenizer.json', Buffer.from('<html>'));
    library.pull(WORD);
    const failed = await ended(library);
    expect(failed?.download).toMatchObject({ state: 'failed', msg: expect.stringContaining('a page of a website') });
    await mkdir(path.join(place, 'dinov2-small'));
    await writeFile(path.join(place, 'dinov2-small', 'akin-download.lock'), '1');
    replaced.clear();
    library.pull('dinov2-small');
    while ((await library.list()).some(({ download }) => download?.state === 'running')) await sleep(5, NEVER);
    const locked = (await library.list()).find(({ name }) => name === 'dinov2-small');
    expect(locked?.download?.msg).toContain('Another akin is downloading this model');
    expect(locked?.download?.msg).not.toContain(place);
    library.pull(WORD);
    expect(await ended(library)).toMatchObject({ here: true });
  });

  it('are called by the names of their folders, also if both are the same kind', async () => {
    const place = await emptyFolder();
    for (const name of ['clip-shop', 'clip-photos']) await cp(TINY_TOWERS, path.join(place, name), { recursive: true });
    // Other pixels before the network are another model.
    const file = path.join(place, 'clip-photos', 'preprocessor_config.json');
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), rescale_factor: 1 / 200 }));
    await using library = await opened({ folder: place });
    const names = (await library.list()).filter(({ licence }) => licence === null).map(({ name }) => name);
    expect(names).toEqual(['clip-photos', 'clip-shop']);
  });

  it('are not downloaded where that is not allowed, or under unknown names', async () => {
    await using library = await opened({ folder: await emptyFolder() });
    expect(library.refusal).toBe('This akin downloads no models.');
    expect(() => library.pull(WORD)).toThrow(
      `downloads no models. Download it where akin runs: akin models pull ${WORD}`,
    );
    expect(() => library.pull('../x')).toThrow('akin knows no model "../x"');
    await expect(library.stop(WORD)).rejects.toThrow('is not being downloaded');
  });
});

describe('the first start on a terminal', () => {
  const start = async (answer: string, from = mirror) => {
    const place = await mkdtemp(path.join(folder, 'first-'));
    const dataFolder = path.join(place, 'data');
    const [input, output] = [new PassThrough(), new PassThrough()];
    input.end(answer);
    const where = { dataFolder, models: path.join(place, 'models'), mirror: from, progress: () => {} };
    expect(isFirstStart(dataFolder)).toBe(true);
    await offerModel(where, { input, output }, NEVER);
    expect(isFirstStart(dataFolder)).toBe(false);
    return { model: chosenModel(dataFolder), printed: String(output.read()), place };
  };

  it.each(['', '\n', 'n\n', 'what?\n'])('asks once, and takes %j for no', async (answer) => {
    const { model, printed } = await start(answer);
    expect(model).toBeUndefined();
    expect(printed).toMatch(/^akin's own network is small; get dinov2-small-q8 \(25 MB, Apache-2.0\) for .*\[y\/N\] $/);
  });

  it('downloads the model for a yes, which the akin of this data folder then uses', async () => {
    replaced.set('onnx/model_quantized.onnx', await readFile(path.join(TINY_TOWERS, VISION)));
    const { vision_config } = JSON.parse(await readFile(path.join(TINY_TOWERS, 'config.json'), 'utf8'));
    replaced.set('config.json', Buffer.from(JSON.stringify(vision_config)));
    const { model, place } = await start('y\n');
    expect(model).toBe('dinov2-small-q8');
    expect(await readdir(path.join(place, 'models', 'dinov2-small-q8'))).toContain('akin-download.json');
    replaced.clear();
  });

  it('goes on without the model if it cannot be downloaded, and ends if it is stopped', async () => {
    const { model, printed } = await start('yes\n', `${mirror}/nothing`);
    expect(model).toBeUndefined();
    expect(printed).toMatch(/answers 404.* akin begins with its own network. Later: akin models pull dinov2-small-q8/s);
    const stop = new AbortController();
    const terminal = { input: new PassThrough(), output: new PassThrough() };
    const where = { dataFolder: path.join(folder, 'x'), models: folder, mirror, progress: () => {} };
    const asking = offerModel(where, terminal, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(asking).rejects.toThrow('stopped');
  });
});
