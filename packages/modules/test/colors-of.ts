import { type Pixels, resizeArea } from '@akin/imaging';
import { analyzeColor, type ColorAnalysis } from '../src/color/analyze.ts';
import { SQUARE } from '../src/picture.ts';

/** What the color module says of pixels alone, as nothing else of a picture is asked for. */
export function colorsOf(pixels: Pixels): ColorAnalysis {
  return analyzeColor({ pixels, square: () => resizeArea(pixels, SQUARE, SQUARE) });
}
