import type { Pixels } from '@akin/imaging';
import { describe, expect, it } from '@jest/globals';
import { sharedNetworks } from '../analyzer/analyze-image.ts';
import { draw } from '../drawing.ts';
import type { Descriptor } from '../module.ts';
import { preparePicture } from '../picture.ts';
import { distance, length } from '../vectors/unit.ts';
import { inWay, WAYS } from '../ways.ts';
import duplicate from './module.ts';

async function vectorOf(pixels: Pixels): Promise<ArrayLike<number>> {
  const { duplicate_descriptor } = await duplicate.analyze(preparePicture(pixels, sharedNetworks('wasm')));
  return (duplicate_descriptor as Descriptor).vector;
}

/** A picture of crossing waves on a wall that gets lighter from end to end. */
const onWall = (fade: number, left = 0.5, top = 0.5) =>
  draw(200, 240, (x, y) => {
    const value =
      Math.abs(x - left) < 0.15 && Math.abs(y - top) < 0.15
        ? 127 + 60 * Math.sin(37 * x + 11 * y) + 60 * Math.sin(13 * x - 41 * y)
        : 170 + fade * (x + y - 1);
    return `#${Math.round(value).toString(16).padStart(2, '0').repeat(3)}`;
  });

describe('the descriptor of copies', () => {
  it('lies between those with and without surroundings of which it is open whether they are plain', async () => {
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
    ['a picture on a plain wall', 0],
    ['one on a wall of which it is open whether it is plain', 16],
    ['one on a wall that is not', 30],
  ])('is the same for all ways to turn and flip %s', async (_, fade) => {
    // Off the middle, and taller than wide.
    const picture = onWall(fade, 0.4, 0.6);
    const vector = await vectorOf(picture);
    for (let way = 1; way < WAYS; way++) {
      expect(distance(await vectorOf(inWay(picture, way)), vector)).toBeLessThan(0.02);
    }
  });
});
