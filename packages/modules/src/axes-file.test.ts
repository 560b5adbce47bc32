import { describe, expect, it } from '@jest/globals';
import { readAxes } from './axes-file.ts';
import { COPIES_FOLDER, MODEL_FOLDER, readModel } from './network/model.ts';

describe('axes', () => {
  it.each([
    ['content', MODEL_FOLDER],
    ['duplicate', COPIES_FOLDER],
  ])('of %s belong to the network that runs, and to no other', async (module, folder) => {
    const { id } = await readModel(folder);
    expect((await readAxes(module, id)).id).toMatch(/^[0-9a-f]{8}$/);
    await expect(readAxes(module, 'other-1:00000000')).rejects.toThrow(
      /belongs to the network .*, not other-1:00000000/,
    );
  });
});
