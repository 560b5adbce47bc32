import { createRandom } from '@akin/domain';
import { decodeImage } from '@akin/imaging';
import { expect, it } from '@jest/globals';
import { EDITS, makeEdits } from './edits.ts';

it.each([
  [640, 1],
  [1, 640],
  [1, 1],
  [300, 7],
])('edits a picture of %i x %i pixels in all orientations', async (width, height) => {
  const random = createRandom(1);
  const data = Buffer.from(Array.from({ length: 3 * width * height }, () => 256 * random()));
  const picture = { width, height, data };
  const edited = await makeEdits(picture, picture, 1);
  expect(edited).toHaveLength(EDITS.length);
  for (const bytes of edited) await decodeImage(bytes, { minSide: 64 });
});
