import { analyzeImage } from '@akin/modules/analyze';
import { parseOutputs } from '@akin/modules/vectors';
import { drawImage } from '@akin/testing';
import { expect, it } from '@jest/globals';
import sharp from 'sharp';
import { NearDuplicates } from './near-duplicates.ts';

async function addAll(pictures: readonly Buffer[]): Promise<number[]> {
  const seen = new NearDuplicates();
  const counts: number[] = [];
  for (const bytes of pictures) {
    const { outputs } = await analyzeImage(bytes, { modules: ['duplicate'] });
    const { vector } = parseOutputs(outputs).descriptors.get('duplicate') as { vector: Float32Array };
    seen.add(vector);
    counts.push(seen.count);
  }
  return counts;
}

it('counts pictures that are copies of an earlier one, once each', async () => {
  const [one, two] = [
    await drawImage({ width: 320, height: 240, seed: 1 }),
    await drawImage({ width: 320, height: 240, seed: 8 }),
  ];
  const smaller = await sharp(one).resize(200).jpeg({ quality: 60 }).toBuffer();
  expect(await addAll([one, two, one, smaller, two])).toEqual([0, 0, 1, 2, 3]);
});

it('also counts the larger one of two if the smaller one came first', async () => {
  const larger = await drawImage({ width: 320, height: 240, seed: 1 });
  const smaller = await sharp(larger).resize(200).jpeg({ quality: 60 }).toBuffer();
  expect(await addAll([smaller, larger])).toEqual([0, 1]);
});
