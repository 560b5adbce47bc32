import { expect, it } from '@jest/globals';
import { labelsIn } from './labels.ts';

it.each([
  ['beach', ['beach']],
  ['beach, grandma', ['beach', 'grandma']],
  [' beach ,,beach,\tsea ', ['beach', 'sea']],
  ['a b; c', ['a b; c']],
  [' , ', []],
  // A file or a program made it.
  ['Smith, John', ['Smith, John']],
  ['Smith, John, beach', ['Smith', 'John', 'beach']],
])('%j are labels', (text, labels) => {
  expect(labelsIn(text, ['Smith, John', 'beach'])).toEqual(labels);
});
