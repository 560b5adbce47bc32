import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sleep } from '@akin/runtime';
import { drawImage, smallDisk, TINY_TOWERS } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PROGRAM, runAkin } from '../../test/run-akin.ts';
import { download } from './download.ts';
import { type KnownModel, knownModel } from './known-models.ts';
import { pull as pullHere } from './pull.ts';

const WORD = 'siglip-base-patch16-224';
const VISION = 'onnx/vision_model.onnx';
/** Number of bytes of a file that a broken connection still sends. */
const BROUGHT = 100;
const NEVER = new AbortController().signal;

let server: Server;
let mirror: string;
let folder: string;
/** The requests to the server: path and range. */
const asked: string[] = [];
/** Files whose next responses are truncated. */
const breaking = new Map<string, number>();
const replaced = new Map<string, Buffer>();
/** Files whose responses never end; called when they start. */
const holding = new Map<string, () => void>();

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'akin-models-'));
  const model = knownModel(WORD);
  const prefix = `/${model?.repository}/resolve/${model?.revision}/`;
  server = createServer(async (request, response) => {
    if (request.url?.startsWith('/moved/')) {
      return void response.writeHead(302, { location: request.url.slice('/moved'.length) }).end();
    }
    const name = request.url?.startsWith(prefix) ? request.url.slice(prefix.length) : '';
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
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

const models = (...args: string[]) => runAkin(['models', ...args, '--models', folder]);
const pull = () => models('pull', WORD, '--mirror', mirror);
const inModel = (...names: string[]) => path.join(folder, WORD, ...names);
const newRequests = () => asked.splice(0);

describe('akin models', () => {
  it('lists what can be downloaded, and downloads nothing', async () => {
    const { code, out } = await models();
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^siglip-base-patch16-224 +768 numbers .*Apache-2\.0.*words$/m),
    ]);
    const unknown = await models('pull', 'other', '--mirror', mirror);
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('akin knows no model other')]);
    const missing = await runAkin(['analyze', '--models', folder, '--content-model', WORD, 'a.jpg']);
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
    const { code, out } = await runAkin(['analyze', '--models', folder, '--content-model', WORD, picture]);
    expect(code).toBe(0);
    const { content_descriptor } = JSON.parse((JSON.parse(out) as { outputs: string }).outputs);
    expect(Buffer.from(content_descriptor, 'base64').toString('latin1')).toContain('tiny-siglip:');
  });

  it('refuses a file that was changed here, and downloads it again', async () => {
    await truncate(inModel(VISION), (await stat(inModel(VISION))).size - 1);
    const use = await runAkin(['analyze', '--models', folder, '--content-model', WORD, 'a.jpg']);
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
