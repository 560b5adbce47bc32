import type { Pixels } from '@akin/imaging';
import { describe, expect, it } from '@jest/globals';
import { gray } from '../../test/noise.ts';
import { sharedNetworks } from '../analyzer/analyze-image.ts';
import type { Descriptor } from '../module.ts';
import { draw } from '../picture/drawing.ts';
import { ORIENTATIONS, oriented } from '../picture/orientations.ts';
import { type OpenNetwork, preparePicture } from '../picture/picture.ts';
import { distance, length } from '../vectors/unit.ts';
import { type CopyFeatures, copyFeaturesOf } from './features.ts';
import { CLEAR } from './join.ts';
import duplicate from './module.ts';

async function vectorOf(pixels: Pixels): Promise<ArrayLike<number>> {
  const { duplicate_descriptor } = await duplicate.analyze(preparePicture(pixels, sharedNetworks('wasm')));
  return (duplicate_descriptor as Descriptor).vector;
}

/** A picture of crossing waves on a wall that becomes lighter from one end to the other. */
const onWall = (fade: number, left = 0.5, top = 0.5) =>
  draw(200, 240, (x, y) => {
    const inside = Math.abs(x - left) < 0.15 && Math.abs(y - top) < 0.15;
    if (inside) return gray(127 + 60 * Math.sin(37 * x + 11 * y) + 60 * Math.sin(13 * x - 41 * y));
    return gray(170 + fade * (x + y - 1));
  });

/** A disc on a wall: the strict limits keep the whole wall, which is nearly blank. */
const speck = draw(200, 200, (x, y) => {
  if (Math.hypot(x - 0.6, y - 0.4) < 0.06) return x + y < 1 ? '#6080A0' : '#B0A090';
  return gray(150 + 14 * (x + y - 1));
});

describe('the descriptor of copies', () => {
  it('uses only the clear one of two crops if the other is nearly blank', async () => {
    const [strict, loose] = preparePicture(speck, sharedNetworks('wasm')).contentCrops().map(copyFeaturesOf);
    expect([(strict as CopyFeatures).contrast < CLEAR, (loose as CopyFeatures).contrast < CLEAR]).toEqual([
      true,
      false,
    ]);
    const lighter = { ...speck, data: speck.data.map((value) => value + 1) };
    expect(distance(await vectorOf(lighter), await vectorOf(speck))).toBeLessThan(0.1);
  });

  it('does not run the network on an ignored crop', async () => {
    const shown: number[] = [];
    const networks = sharedNetworks('wasm');
    const watched: OpenNetwork = async (folder) => {
      const network = await networks(folder);
      return {
        ...network,
        run(squares) {
          shown.push(squares.length);
          return network.run(squares);
        },
      };
    };
    for (const picture of [speck, onWall(16)]) await duplicate.analyze(preparePicture(picture, watched));
    expect(shown).toEqual([1, 2]);
  });

  it('lies between the crops with and without an ambiguous background', async () => {
    const [without, open, withWall] = [
      await vectorOf(onWall(0)),
      await vectorOf(onWall(16)),
      await vectorOf(onWall(30)),
    ];
    const far = distance(without, withWall);
    expect(distance(open, without)).toBeLessThan(0.6 * far);
    expect(distance(open, withWall)).toBeLessThan(0.6 * far);
    expect(length(open)).toBeCloseTo(1, 6);
  });

  it.each([
    ['a picture on a plain wall', 0, 1],
    ['one on a wall of which it is open whether it is plain', 16, 2],
    ['one on a wall that is not', 30, 1],
  ])('is the same for all orientations of %s', async (_, fade, squares) => {
    // Not in the middle, and taller than wide.
    const picture = onWall(fade, 0.4, 0.6);
    expect(preparePicture(picture, sharedNetworks('wasm')).contentCrops()).toHaveLength(squares);
    const vector = await vectorOf(picture);
    for (let orientation = 1; orientation < ORIENTATIONS; orientation++) {
      expect(distance(await vectorOf(oriented(picture, orientation)), vector)).toBeLessThan(1e-3);
    }
  });
});
