import type { Pixels } from '@akin/imaging';
import { describe, expect, it } from '@jest/globals';
import { sharedNetworks } from '../analyzer/analyze-image.ts';
import { draw } from '../drawing.ts';
import type { Descriptor } from '../module.ts';
import { preparePicture } from '../picture.ts';
import { distance, length } from '../vectors/unit.ts';
import duplicate from './module.ts';

async function vectorOf(pixels: Pixels): Promise<ArrayLike<number>> {
  const { duplicate_descriptor } = await duplicate.analyze(preparePicture(pixels, sharedNetworks('wasm')));
  return (duplicate_descriptor as Descriptor).vector;
}

/** A chequered picture on a wall that gets lighter from end to end. */
const onWall = (fade: number) =>
  draw(200, 200, (x, y) => {
    const value =
      Math.abs(x - 0.5) < 0.15 && Math.abs(y - 0.5) < 0.15
        ? 127 + 90 * Math.sin(40 * x + 3 * y) * Math.cos(25 * y * y)
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
    expect(distance(open, without)).toBeLessThan(0.8 * far);
    expect(distance(open, withWall)).toBeLessThan(0.8 * far);
    expect(length(open)).toBeCloseTo(1, 6);
  });
});
