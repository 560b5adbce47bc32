import { createRandom } from '@akin/domain';
import { expect, it } from '@jest/globals';
import { sharedNetworks } from '../analyzer/analyze-image.ts';
import { preparePicture } from '../picture.ts';
import color from './module.ts';

it('lists colours by falling share, also when two that print alike were joined', async () => {
  // Found among 76,456 pictures drawn by lot: eleven dull colours with noise.
  const random = createRandom(41390);
  const [width, height] = [1 + Math.floor(random() * 60), 1 + Math.floor(random() * 60)];
  const count = 1 + Math.floor(random() * 12);
  const spread = 120 * random();
  const base = Array.from({ length: 3 }, () => 255 * random());
  const drawn = Array.from({ length: count }, () => base.map((value) => value + 2 * spread * (random() - 0.5)));
  const noise = 60 * random();
  const data = new Uint8Array(width * height * 3);
  for (let at = 0; at < data.length; at += 3) {
    for (const [i, value] of drawn[Math.floor(random() ** 2 * count)]?.entries() ?? []) {
      data[at + i] = Math.max(0, Math.min(255, Math.round(value + noise * (random() - 0.5))));
    }
  }
  const { color_palette_freq: shares } = await color.analyze(
    preparePicture({ width, height, data }, sharedNetworks('wasm')),
  );
  expect(shares).toEqual([0.4117, 0.3046, 0.1791, 0.1046]);
});
