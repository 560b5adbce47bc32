import { type Pixels, resizeArea } from '@akin/imaging';
import { analyzeColor, type ColorAnalysis } from '../src/color/analyze.ts';
import { SQUARE } from '../src/picture/picture.ts';

/** Runs the color module on pixels; it needs no other property of a picture. */
export function colorsOf(pixels: Pixels): ColorAnalysis {
  return analyzeColor({ pixels, square: () => resizeArea(pixels, SQUARE, SQUARE) });
}
