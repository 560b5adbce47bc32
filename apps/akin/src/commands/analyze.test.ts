import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
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
  const files = ['0.jpg', '1.jpg', '2.jpg', '3.jpg', '4.jpg', '5.jpg', 'odd ünï 🙂.jpg'];
  let analyzed: Awaited<ReturnType<typeof analyze>>;
  /** The outputs of each file. */
  let outputs: string[];
  beforeAll(async () => {
    analyzed = await analyze(files, undefined, 2);
    outputs = analyzed.lines.map((line) => line.outputs);
  });

  it('prints one line per file, in the order of the files', () => {
    const { code, err, lines } = analyzed;
    expect([code, err]).toEqual([0, '']);
    expect(lines.map(({ file }) => file)).toEqual(files);
    expect(lines[0]).toMatchObject({ width: 3000, height: 60 });
    const first = JSON.parse(outputs[0] as string);
    expect(first.content_descriptor).toEqual(expect.any(String));
    expect(first.copyspace).toEqual(expect.any(Array));
    expect(outputs[1]).toBe(outputs[6]);
  });

  it('reads paths and base64 from standard input, copies the other members of a line, and prints errors in the same order', async () => {
    const input = [
      '1.jpg',
      '',
      JSON.stringify({ data: base64(2), id: 7, note: { any: 'thing' } }),
      'none.jpg',
      'text.jpg',
      '{"data": "%%%"}',
      '{"data"',
      '{}',
      '{"file": 3}',
      '.',
      'pipe',
      JSON.stringify({ file: '3.jpg', id: 8 }),
      JSON.stringify({ data: `data:image/png;base64,${base64(4)}` }),
    ];
    const { code, err, lines } = await analyze(['-'], input.join('\n'));
    expect([code, err]).toEqual([2, '']);
    const refused = (msg: unknown, code = 'bad-request') => ({ error: { code, msg } });
    expect(lines.map(({ width, height, ...line }) => line)).toEqual([
      { file: '1.jpg', outputs: outputs[1] },
      { id: 7, note: { any: 'thing' }, outputs: outputs[2] },
      { file: 'none.jpg', ...refused('it does not exist') },
      { file: 'text.jpg', ...refused(expect.any(String), 'unsupported-image') },
      refused(expect.stringContaining('base64')),
      { file: '{"data"', ...refused(expect.stringContaining('neither a path nor JSON')) },
      { file: '{}', ...refused(expect.stringContaining('needs "data"')) },
      expect.objectContaining(refused(expect.stringContaining('needs "data"'))),
      { file: '.', ...refused('it is not a file') },
      { file: 'pipe', ...refused('it is not a file') },
      { file: '3.jpg', id: 8, outputs: outputs[3] },
      { outputs: outputs[4] },
    ]);
  });
});
