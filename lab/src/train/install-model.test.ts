import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MODEL_FOLDER, readModel } from '@akin/modules/internal/network/model';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkModel, type Reference } from './install-model.ts';

describe('a network to replace akin’s own', () => {
  let folder: string;
  const url = () => pathToFileURL(`${folder}/`);
  /** Changes one of the model's JSON files. */
  const change = async (file: string, how: (json: never) => object) => {
    await cp(MODEL_FOLDER, folder, { recursive: true });
    const json = JSON.parse(await readFile(new URL(file, MODEL_FOLDER), 'utf8'));
    await writeFile(join(folder, file), JSON.stringify(how(json as never)));
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'akin-take-'));
    await cp(MODEL_FOLDER, folder, { recursive: true });
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('is accepted if its outputs match its reference', async () => {
    expect(await checkModel(url(), 'wasm')).toBe((await readModel(MODEL_FOLDER)).id);
  });

  it('is rejected if it gives other outputs', async () => {
    await change('reference.json', ({ tolerance, vectors: [first, ...others] }: Reference) => ({
      tolerance,
      vectors: [(first ?? []).map((value, i) => (i === 3 ? value + 2e-4 : value)), ...others],
    }));
    await expect(checkModel(url(), 'wasm')).rejects.toThrow('gives for reference 0 another vector');
  });

  it('is refused when a reference is missing', async () => {
    await change('reference.json', ({ tolerance, vectors }: Reference) => ({ tolerance, vectors: vectors.slice(1) }));
    await expect(checkModel(url(), 'wasm')).rejects.toThrow('does not contain the 15 pictures');
  });

  it('is refused when its weights are not named as a file in its folder', async () => {
    await change('model.json', (spec: { weights: { file: string } }) => ({
      ...spec,
      weights: { ...spec.weights, file: `../${basename(folder)}/${spec.weights.file}` },
    }));
    await expect(checkModel(url(), 'wasm')).rejects.toThrow(
      'model.json does not name its weights as a file in its folder',
    );
  });

  it('is refused when a head is of another width', async () => {
    await change('model.json', (spec: object) => ({ ...spec, head: { name: 'content', dim: 192 } }));
    await expect(checkModel(url(), 'wasm')).rejects.toThrow('another layout: head and channels have 192 and');
  });
});
