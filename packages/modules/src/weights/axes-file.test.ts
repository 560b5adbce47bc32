import { describe, expect, it } from '@jest/globals';
import { contentAxes } from '../content/axes.ts';
import { duplicateAxes } from '../duplicate/axes.ts';
import { COPIES_FOLDER, MODEL_FOLDER, readModel } from '../network/model.ts';
import { CROP_RULE } from '../picture/content-crop.ts';
import { MIDDLE_RULE } from '../picture/middle.ts';
import { readAxes } from './axes-file.ts';

describe('axes', () => {
  it.each([
    ['content', MODEL_FOLDER, MIDDLE_RULE],
    ['duplicate', COPIES_FOLDER, CROP_RULE],
  ])('of %s belong to the network that runs, and to no other', async (module, folder, rule) => {
    const { id } = await readModel(folder);
    expect((await readAxes(module, id, rule)).id).toMatch(/^[0-9a-f]{8}$/);
    await expect(readAxes(module, 'other-1:00000000', rule)).rejects.toThrow(
      /belongs to the network .*, not other-1:00000000/,
    );
    await expect(readAxes(module, id, '1 2 3')).rejects.toThrow(/belongs to another rule/);
  });

  it.each([
    ['content', MODEL_FOLDER, contentAxes],
    ['duplicate', COPIES_FOLDER, duplicateAxes],
  ])('of %s are not given out for another network, also once they have been read', async (_, folder, axes) => {
    const { id } = await readModel(folder);
    expect(await axes(id)).toBe(await axes(id));
    await expect(axes('other-1:00000000')).rejects.toThrow(/belongs to the network .*, not other-1:00000000/);
  });
});
