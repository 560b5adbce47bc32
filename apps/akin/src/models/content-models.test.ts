import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { modelSetWith } from '@akin/modules/vectors';
import { TINY_TOWERS } from '@akin/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ContentModels } from './content-models.ts';

const TINY = modelSetWith(TINY_TOWERS).models.get('content') as string;

describe('content models', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'akin-content-models-'));
    await mkdir(path.join(folder, 'empty'));
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(folder, { recursive: true });
  });

  it('are not searched for again at once after a miss, unless the folder has a new name', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    const models = new ContentModels({ models: folder });
    expect(await models.has('other:1')).toBe(false);
    await cp(TINY_TOWERS, path.join(folder, 'empty'), { recursive: true });
    expect(await models.has(TINY)).toBe(false);
    now.mockReturnValue(11_000);
    expect(await models.has(TINY)).toBe(true);

    const others = new ContentModels({ models: path.join(folder, 'more') });
    expect(await others.has(TINY)).toBe(false);
    await cp(TINY_TOWERS, path.join(folder, 'more', 'tiny'), { recursive: true });
    expect(await others.has(TINY)).toBe(true);
  });
});
