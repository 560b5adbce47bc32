import { writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Pixels } from '@akin/imaging';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { noise } from '../../test/noise.ts';
import type { Analyzer } from '../analyzer/create-analyzer.ts';
import { createAnalyzer } from '../analyzer/create-analyzer.ts';
import { draw } from '../picture/drawing.ts';
import { modelSetWith } from '../vectors.ts';
import { readModelFolder } from './files.ts';
import { contentCodebook } from './use-content-model.ts';

/*
 * A published model is too large for the repository: AKIN_REAL_MODEL names a folder with one, see
 * docs/content-models.md.
 */
const named = process.env.AKIN_REAL_MODEL;

const png = ({ width, height, data }: Pixels) =>
  sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
const plain = (color: string) => draw(320, 240, () => color);

if (named === undefined) {
  it('tries no real model: AKIN_REAL_MODEL names no folder', () => {
    writeSync(1, 'No real content model was tried: AKIN_REAL_MODEL names no folder.\n');
    expect(named).toBeUndefined();
  });
} else {
  describe(`the model in ${named}`, () => {
    const folder = resolve(named);
    let analyzer: Analyzer;
    beforeAll(async () => {
      analyzer = await createAnalyzer({ threads: 1, contentModel: folder });
    });
    afterAll(async () => analyzer?.[Symbol.asyncDispose]());

    const vectorOf = (outputs: string) => {
      const { vector } = modelSetWith(folder).parseOutputs(outputs).descriptors.get('content') ?? {};
      if (vector === undefined) throw new Error('no descriptor');
      return vector;
    };
    const pictured = async (pixels: Pixels) =>
      vectorOf((await analyzer.analyze(await png(pixels), { modules: ['content'] })).outputs);
    const said = async (text: string) =>
      vectorOf((await analyzer.encodeText(text, new AbortController().signal)).outputs);
    const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);

    it('gives vectors of length 1, the same for the same picture, and near ones for a picture and its smaller copy', async () => {
      const picture = noise(400, 300, 3);
      const [one, again] = [await pictured(picture), await pictured(picture)];
      expect(one).toEqual(again);
      expect(one).toHaveLength(readModelFolder(folder).config.dimensions);
      expect(cosine(one, one)).toBeCloseTo(1, 2);
      const half = await sharp(picture.data, { raw: { ...picture, channels: 3 } })
        .resize(300, 225)
        .raw()
        .toBuffer();
      const copy = await pictured({ width: 300, height: 225, data: half });
      expect(cosine(one, copy)).toBeGreaterThan(cosine(one, await pictured(plain('#1020e0'))));
    });

    it('finds colours by their names if it has a text encoder', async () => {
      if (contentCodebook(folder).textCalibration === undefined) return;
      const [red, blue] = [await pictured(plain('#e01010')), await pictured(plain('#1020e0'))];
      const [redText, blueText] = [await said('a red picture'), await said('a blue picture')];
      expect(cosine(redText, red)).toBeGreaterThan(cosine(redText, blue));
      expect(cosine(blueText, blue)).toBeGreaterThan(cosine(blueText, red));
    });
  });
}
