import { expect, it } from '@jest/globals';
import { installCommand } from './install-command.ts';

it('installs a package next to akin, or above a clone, in which npm refuses to install', () => {
  const installed = 'file:///home/me/node_modules/akin-search/node_modules/@akin/imaging/dist/heic.js';
  expect(installCommand('heic-decode', installed)).toBe('npm install --ignore-scripts heic-decode');
  const clone = 'file:///home/me/akin/packages/imaging/dist/heic.js';
  expect(installCommand('heic-decode', clone)).toBe('npm install --prefix .. --ignore-scripts heic-decode');
});
