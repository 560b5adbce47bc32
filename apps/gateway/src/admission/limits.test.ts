import { expect, it } from '@jest/globals';
import { DEFAULT_GATEWAY_LIMITS, limitsForPictures } from './limits.ts';

it('lets the bodies grow with the pictures that they contain', () => {
  const { pictureBytes, parameterBytes, multipartBytes } = DEFAULT_GATEWAY_LIMITS;
  expect(limitsForPictures(pictureBytes)).toEqual({ pictureBytes, parameterBytes, multipartBytes });
  const large = limitsForPictures(100_000_000);
  expect(large.parameterBytes).toBeGreaterThan((100_000_000 * 4) / 3);
  expect(large.multipartBytes).toBeGreaterThan(2 * 100_000_000);
});
