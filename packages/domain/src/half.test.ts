import { describe, expect, it } from '@jest/globals';
import { readHalves, roundToHalves, toHalf, writeHalves } from './half.ts';

describe('half precision', () => {
  it('reads every finite half and writes it back as the same bits', () => {
    const bytes = new Uint8Array(2);
    for (let half = 0; half < 65536; half++) {
      if (((half >> 10) & 31) === 31) continue;
      bytes[0] = half & 0xff;
      bytes[1] = half >> 8;
      const value = readHalves(bytes, 0, 1)[0] as number;
      if (toHalf(value) !== half) throw new Error(`${half} is read as ${value} and written as ${toHalf(value)}`);
    }
  });

  it('knows the values of the standard', () => {
    const of = (half: number) => readHalves(new Uint8Array([half & 255, half >> 8]), 0, 1)[0];
    expect(of(0x3c00)).toBe(1);
    expect(of(0xc000)).toBe(-2);
    expect(of(0x7bff)).toBe(65504);
    expect(of(0x0400)).toBe(2 ** -14);
    expect(of(0x0001)).toBe(2 ** -24);
    expect(of(0x7c00)).toBe(Number.POSITIVE_INFINITY);
    expect(of(0x7c01)).toBeNaN();
  });

  it('rounds to the nearest, ties to even, at every magnitude', () => {
    expect(toHalf(1 + 2 ** -11)).toBe(0x3c00);
    expect(toHalf(1 + 3 * 2 ** -11)).toBe(0x3c02);
    expect(toHalf(1 + 2 ** -11 + 2 ** -20)).toBe(0x3c01);
    expect(toHalf(2 ** -25)).toBe(0);
    expect(toHalf(-(2 ** -25) * 1.01)).toBe(0x8001);
    expect(toHalf(1023.5 * 2 ** -24)).toBe(0x0400);
    expect(toHalf(65519)).toBe(0x7bff);
    expect(toHalf(65520)).toBe(0x7c00);
    expect(toHalf(-1e9)).toBe(0xfc00);
    expect(toHalf(Number.NaN)).toBe(0x7e00);
  });

  it('is not changed by rounding a second time', () => {
    const once = roundToHalves([0.1, -0.333, 1e-5]);
    expect(roundToHalves(once)).toEqual(once);
    const bytes = new Uint8Array(6);
    writeHalves([0.1, -0.333, 1e-5], bytes, 0);
    expect(readHalves(bytes, 0, 3)).toEqual(once);
  });
});
