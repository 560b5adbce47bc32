import { encodeDescriptor } from '@akin/modules/vectors';
import { expect, it } from '@jest/globals';
import { compareEdited } from './same-picture.ts';

const DIMENSIONS = { duplicate: 256, content: 256, color: 64 };
type Module = keyof typeof DIMENSIONS;

/** A unit vector at an angle, in degrees, from the first axis. */
function outputs(angles: Partial<Record<Module, number>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(angles).map(([module, degrees]) => {
      const vector = new Float32Array(DIMENSIONS[module as Module]);
      vector[0] = Math.cos((degrees * Math.PI) / 180);
      vector[1] = Math.sin((degrees * Math.PI) / 180);
      return [`${module}_descriptor`, encodeDescriptor(vector, module)];
    }),
  );
}
const START = { duplicate: 0, content: 0, color: 0 };
const [MORNING, EVENING] = ['2024-05-01T08:00:00Z', '2024-05-01T20:00:00.000Z'];

it.each<[string, string, Partial<Record<Module, number>>, [unknown, unknown]?]>([
  ['same', 'an equal picture', START],
  ['same', 'an equal picture with another date', START, [MORNING, EVENING]],
  ['same', 'black and white', { ...START, color: 60 }],
  ['other', 'everything else', { duplicate: 80, content: 90, color: 40 }],
  ['same', 'everything else of the same moment', { duplicate: 80, content: 90, color: 40 }, [EVENING, EVENING]],
  ['unsure', 'similar content in similar colours', { duplicate: 70, content: 50, color: 15 }],
  ['other', 'another copy descriptor alone', { duplicate: 80 }],
  ['same', 'nothing to compare', {}],
])('says %s for %s', (expected, _, angles, [before, now] = [undefined, undefined]) => {
  expect(compareEdited({ taken: before, outputs: outputs(START) }, { taken: now, outputs: outputs(angles) })).toBe(
    expected,
  );
});
