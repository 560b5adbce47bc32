import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeDescriptor, distance } from '@akin/modules/vectors';
import { drawImage } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runAkin } from '../../test/run-akin.ts';

let folder: string;
const pictures: Buffer[] = [];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'akin-analyze-'));
  for (let seed = 0; seed < 6; seed++) {
    // The first file is much larger than the others: its analysis ends last, and its line still comes first.
    const bytes = await drawImage({ width: seed === 0 ? 3000 : 90, height: 60, seed });
    pictures.push(bytes);
    await writeFile(path.join(folder, `${seed}.jpg`), bytes);
  }
  await writeFile(path.join(folder, 'odd ünï 🙂.jpg'), pictures[1] as Buffer);
  await writeFile(path.join(folder, 'text.jpg'), 'no picture');
  execFileSync('mkfifo', [path.join(folder, 'pipe')]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function analyze(args: string[], input?: string, threads = 1) {
  const { code, out, err } = await runAkin(['analyze', ...args], { cwd: folder, threads, ...(input ? { input } : {}) });
  return {
    code,
    err,
    lines: out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
  };
}
const base64 = (index: number) => (pictures[index] as Buffer).toString('base64');

describe('akin analyze', () => {
  it('prints one line per file, in the order of the files', async () => {
    const files = ['0.jpg', '1.jpg', '2.jpg', '3.jpg', '4.jpg', '5.jpg', 'odd ünï 🙂.jpg'];
    const { code, err, lines } = await analyze(files, undefined, 2);
    expect([code, err]).toEqual([0, '']);
    expect(lines.map(({ file }) => file)).toEqual(files);
    expect(lines[0]).toMatchObject({ width: 3000, height: 60 });
    const outputs = JSON.parse(lines[0].outputs);
    expect(outputs.content_descriptor).toEqual(expect.any(String));
    expect(outputs.copyspace).toEqual(expect.any(Array));
    expect(lines[1].outputs).toBe(lines[6].outputs);
  });

  it('takes hundreds of files, and leaves nothing in the home directory, on ONNX Runtime', async () => {
    const home = await mkdtemp(path.join(tmpdir(), 'akin-home-'));
    const files = ['1.jpg', ...Array.from({ length: 500 }, () => `${'./'.repeat(20)}text.jpg`)];
    const { code, out, err } = await runAkin(['analyze', '--backend', 'onnx', ...files], {
      cwd: folder,
      env: { HOME: home, XDG_CACHE_HOME: undefined, ORT_DISABLE_TELEMETRY: undefined },
    });
    expect([code, err, out.trim().split('\n').length]).toEqual([2, '', 501]);
    expect(await readdir(home)).toEqual([]);
    await rm(home, { recursive: true });
  });

  it('reads paths and base64 from standard input, and copies the other members of a line', async () => {
    const input = [
      '1.jpg',
      '',
      JSON.stringify({ data: base64(2), id: 7, note: { any: 'thing' } }),
      JSON.stringify({ file: '3.jpg', id: 8 }),
      JSON.stringify({ data: `data:image/png;base64,${base64(4)}` }),
    ];
    const { code, lines } = await analyze(['-'], input.join('\n'));
    expect(code).toBe(0);
    expect(lines.map(({ outputs, width, height, ...about }) => about)).toEqual([
      { file: '1.jpg' },
      { id: 7, note: { any: 'thing' } },
      { file: '3.jpg', id: 8 },
      {},
    ]);
    const byFile = await analyze(['2.jpg', '4.jpg']);
    expect([lines[1].outputs, lines[3].outputs]).toEqual(byFile.lines.map(({ outputs }) => outputs));
  });

  it('prints errors as lines in the same order, and exits with 2', async () => {
    const input = [
      '1.jpg',
      'none.jpg',
      'text.jpg',
      '{"data": "%%%"}',
      '{"data"',
      '{}',
      '{"file": 3}',
      '.',
      'pipe',
      '2.jpg',
    ];
    const { code, err, lines } = await analyze(['-'], input.join('\n'));
    expect([code, err]).toEqual([2, '']);
    expect(lines).toEqual([
      expect.objectContaining({ file: '1.jpg', outputs: expect.any(String) }),
      { file: 'none.jpg', error: { code: 'bad-request', msg: 'it does not exist' } },
      { file: 'text.jpg', error: { code: 'unsupported-image', msg: expect.any(String) } },
      { error: { code: 'bad-request', msg: expect.stringContaining('base64') } },
      { file: '{"data"', error: { code: 'bad-request', msg: expect.stringContaining('neither a path nor JSON') } },
      { file: '{}', error: { code: 'bad-request', msg: expect.stringContaining('needs "data"') } },
      expect.objectContaining({ error: { code: 'bad-request', msg: expect.stringContaining('needs "data"') } }),
      { file: '.', error: { code: 'bad-request', msg: 'it is not a file' } },
      { file: 'pipe', error: { code: 'bad-request', msg: 'it is not a file' } },
      expect.objectContaining({ file: '2.jpg', outputs: expect.any(String) }),
    ]);
  });

  it('runs only the named modules', async () => {
    const { lines } = await analyze(['--modules', 'color', '1.jpg']);
    expect(Object.keys(JSON.parse(lines[0].outputs)).every((key) => key.startsWith('color_'))).toBe(true);
  });

  it('analyzes on the given backend, with nearly the same outputs', async () => {
    const [wasm, onnx] = [await analyze(['1.jpg']), await analyze(['--backend', 'onnx', '1.jpg'])];
    expect(onnx.code).toBe(0);
    const [a, b] = [wasm, onnx].map(({ lines }) => JSON.parse(lines[0].outputs));
    expect(b.color_palette_hex).toEqual(a.color_palette_hex);
    const [one, other] = [a, b].map(({ content_descriptor }) => decodeDescriptor(content_descriptor, 'content'));
    // Rounding to half precision may increase a difference of 1e-4.
    expect(distance(one as Float32Array, other as Float32Array)).toBeLessThan(2e-3);
  });

  it('says what is missing for a backend, and which backends exist', async () => {
    const missing = await analyze(['--backend', 'node', '1.jpg']);
    expect([missing.code, missing.lines]).toEqual([1, []]);
    expect(missing.err).toContain('"node" needs @tensorflow/tfjs-node, which is not installed');
    const unknown = await analyze(['--backend', 'gpu', '1.jpg']);
    expect([unknown.code, unknown.err]).toEqual([
      1,
      '--backend (or AKIN_BACKEND) must be one of auto, wasm, onnx, node.\n',
    ]);
  });

  it('ends silently when the reader of its lines has gone', async () => {
    const { spawnSync } = await import('node:child_process');
    const program = path.resolve(import.meta.dirname, '../../bin/akin.mjs');
    const shell = `yes 1.jpg | "${process.execPath}" "${program}" analyze --modules color - | head -n 2 | wc -l`;
    const { stdout, stderr } = spawnSync('sh', ['-c', shell], { cwd: folder, encoding: 'utf8' });
    expect([stdout.trim(), stderr]).toEqual(['2', '']);
  });
});
