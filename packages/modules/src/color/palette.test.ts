import { createRandom } from '@akin/domain';
import { expect, it } from '@jest/globals';
import { sharedNetworks } from '../analyzer/analyze-image.ts';
import { draw } from '../picture/drawing.ts';
import { preparePicture } from '../picture/picture.ts';
import color from './module.ts';

it('lists colours by descending share, also after two with the same text were merged', async () => {
  // A seed found among 300,000 random pictures.
  const random = createRandom(311603);
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
  expect(shares).toEqual([0.3469, 0.3231, 0.2279, 0.1021]);
});

it('keeps a small object of dull green among shaded grays', async () => {
  const random = createRandom(364);
  const grays = Array.from({ length: 6 }, () => {
    const level = 30 + 200 * random();
    return [20, 12, 20].map((much) => level + much * (random() - 0.5));
  });
  const hexOf = (rgb: readonly number[]) =>
    `#${rgb.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`;
  const picture = draw(64, 64, (x, y) => {
    const across = (y - 0.5) / 0.11;
    if (Math.hypot(x - 0.5, y - 0.5) < 0.11) return hexOf([60 + 15 * across, 105 + 20 * across, 50 + 15 * across]);
    const gray = grays[Math.floor(3 * x) + 3 * Math.floor(2 * y)] as number[];
    return hexOf(gray.map((value) => Math.max(0, Math.min(255, value + 40 * (((3 * x) % 1) - 0.5)))));
  });
  const { color_names: names } = await color.analyze(preparePicture(picture, sharedNetworks('wasm')));
  expect(names).toContain('green');
});
