import { AkinError } from '@akin/domain';
import { expect, it } from '@jest/globals';
import { BodyPlaces } from './body-places.ts';

const detail = (position: number) => ({ position, msg: `Document "a at position 1" at position ${position}: odd.` });

it('errors of staged changes name the position in the body and the line, unless too many are left out', async () => {
  const places = new BodyPlaces(2);
  for (const [index, position] of [0, 1, 3, 4, 6].entries()) places.note(index, { position, line: position + 1 });
  const corrected = await places
    .correctError(async () => {
      const details = [0, 1, 2, 3, 4].map((position) => ({ ...detail(position), code: 'conflict' as const }));
      throw new AkinError('conflict', `${details[2]?.msg}`, { details });
    })
    .catch((error: AkinError) => error.details.map(({ position, msg }) => [position, msg]));
  expect(corrected).toEqual([
    [0, 'Line 1: Document "a at position 1" at position 0: odd.'],
    [1, 'Line 2: Document "a at position 1" at position 1: odd.'],
    [3, 'Line 4: Document "a at position 1" at position 3: odd.'],
    [4, 'Line 5: Document "a at position 1" at position 4: odd.'],
    [undefined, 'Document "a at position 1": odd.'],
  ]);
});
