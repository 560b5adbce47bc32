import { expect, it } from '@jest/globals';
import type { Body } from './body.ts';
import { unsupportedBody } from './read-request.ts';
import { unknownAddress } from './unknown-address.ts';

it('an unknown path and a type that is not read are repeated in the error, but not at full length', () => {
  expect(unknownAddress('/nowhere').message).toBe('Nothing answers at "/nowhere": /docs lists all paths.');
  expect(unknownAddress(`/${'a'.repeat(100_000)}`).message).toContain(`"/${'a'.repeat(59)}…"`);
  const body = { type: `text/${'a'.repeat(10_000)}` } as Body;
  expect(unsupportedBody(body, 'a form').message).toContain(`"text/${'a'.repeat(55)}…"`);
});
