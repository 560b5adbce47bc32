import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { analyzeImage } from '../analyzer/analyze-image.ts';
import { createAnalyzer } from '../analyzer/create-analyzer.ts';
import { axesFile } from '../axes-file.ts';
import { MODEL_FOLDER } from '../network/model.ts';
import { codebookFile } from '../vectors/codebook.ts';
import { earlierNetworkFolder, earlierNetworks, modelSetWith, models, useContentModel } from '../vectors.ts';
import { openNetworkContent } from './open-network-content.ts';

describe('a folder of a network in akin’s layout', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'akin-network-folder-'));
    await cp(MODEL_FOLDER, folder, { recursive: true });
    await cp(axesFile('content'), join(folder, 'content-axes.safetensors'));
    await cp(codebookFile('content'), join(folder, 'content-codebook.safetensors'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('gives the same outputs as the network does in akin', async () => {
    expect(modelSetWith(folder).models).toEqual(models());
    for (const file of ['alpha.png', 'grey.jpg', 'plain.jpg']) {
      const bytes = await readFile(new URL(`../../test/pictures/${file}`, import.meta.url));
      const { outputs } = await analyzeImage(bytes, { modules: ['content'] });
      expect((await analyzeImage(bytes, { modules: ['content'], contentModel: folder })).outputs).toBe(outputs);
    }
  });

  it('gives outputs only under the name that the process expects', async () => {
    await expect(openNetworkContent(folder, 'akin-0:other')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('needs its codebook', async () => {
    await rm(join(folder, 'content-codebook.safetensors'));
    expect(() => useContentModel(folder)).toThrow(/content-model.json cannot be read/);
  });
});

describe('networks of earlier releases', () => {
  /** The descriptors that the releases with these networks gave, by network and picture. */
  let stored: Record<string, Record<string, string>>;
  beforeAll(async () => {
    stored = JSON.parse(await readFile(new URL('../../test/earlier-descriptors.json', import.meta.url), 'utf8'));
  });

  it('have no other names than those of their folders', () => {
    expect(earlierNetworks()).toEqual(Object.keys(stored));
    expect(['akin-0', '..', ''].map(earlierNetworkFolder)).toEqual([undefined, undefined, undefined]);
  });

  it('give exactly the descriptors that their releases gave', async () => {
    for (const [name, descriptors] of Object.entries(stored)) {
      // In threads of its own, as in a server: these use the codebook of the present network.
      await using analyzer = await createAnalyzer({
        threads: 1,
        backend: 'wasm',
        contentModel: earlierNetworkFolder(name) ?? '',
      });
      for (const [file, descriptor] of Object.entries(descriptors)) {
        const bytes = await readFile(new URL(`../../test/pictures/${file}`, import.meta.url));
        const { outputs } = await analyzer.analyze(bytes, { modules: ['content'] });
        expect([name, file, JSON.parse(outputs).content_descriptor]).toEqual([name, file, descriptor]);
      }
    }
  });
});
