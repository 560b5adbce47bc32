import { stringifyJson } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { contentManifest } from '../content/manifest.ts';
import { codebookOf } from '../vectors/codebook.ts';
import { parseOutputs } from '../vectors/parse-outputs.ts';
import { l2Normalize } from '../vectors/unit.ts';
import { writeOutputs } from './write-outputs.ts';

const { model } = codebookOf('content');
const vectorOf = (seed: number) => l2Normalize(Array.from({ length: 256 }, (_, i) => Math.sin((i + 1) * seed)));

describe('the outputs of a module', () => {
  it('have the same codes as those computed from the text of the descriptor', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const written = writeOutputs(contentManifest, { content_descriptor: { model, vector: vectorOf(seed) } });
      const { fields } = parseOutputs(stringifyJson({ content_descriptor: written.get('content_descriptor') }));
      for (const key of ['content_lopq', 'content_nclusters', 'content_rerank']) {
        expect(fields.get(key)).toBe(written.get(key));
      }
    }
  });

  it('are refused when the vector is of a model that the codebook does not know', () => {
    expect(() =>
      writeOutputs(contentManifest, { content_descriptor: { model: 'own-2', vector: vectorOf(1) } }),
    ).toThrow(`The codebook of content was trained for the model ${model}, and own-2 runs.`);
  });

  it('are refused when one is missing', () => {
    const manifest = { name: 'smell', outputs: [{ name: 'smell', type: 'strings', returnedByDefault: true }] } as const;
    expect(() => writeOutputs(manifest, {})).toThrow('The module smell returned no smell.');
  });
});
