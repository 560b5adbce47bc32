import { AkinError, readHalves, roundToHalves, writeHalves } from '@akin/domain';
import { makeThumbnailFromPixels } from '@akin/imaging';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { analyzeImage } from '../analyzer/analyze-image.ts';
import { disc } from '../picture/drawing.ts';
import {
  combine,
  decodeDescriptor,
  descriptorTexts,
  distance,
  distanceAt,
  encodeDescriptor,
  parseOutputs,
  scoreOf,
} from '../vectors.ts';
import { codebookOf } from './codebook.ts';
import { encodeCodes, nearestCells } from './codes.ts';
import type { OutputDescriptor } from './parse-outputs.ts';
import { l2Normalize } from './unit.ts';

const MODULES = ['color', 'content', 'duplicate'];
const unit = (seed: number, dimensions = 256) =>
  roundToHalves(l2Normalize(Array.from({ length: dimensions }, (_, i) => Math.sin((i + 1) * seed))));

describe('a descriptor as text', () => {
  it('is exactly the same after a round trip', () => {
    const vector = unit(0.7);
    expect(decodeDescriptor(encodeDescriptor(vector, 'content'), 'content')).toEqual(vector);
  });

  it('survives a form that turned its plus signs into spaces', () => {
    const vector = unit(1.9);
    const text = encodeDescriptor(vector, 'content');
    expect(text).toContain('+');
    expect(decodeDescriptor(text.replaceAll('+', ' '), 'content')).toEqual(vector);
  });

  it('names both models if it was computed by another', () => {
    const name = Buffer.from('akin-9:00c0ffee/content', 'latin1');
    const vector = Buffer.alloc(512);
    const text = Buffer.concat([Buffer.from([1, name.length]), name, vector]).toString('base64');
    expect(() => decodeDescriptor(text, 'content')).toThrow(
      `content_descriptor was made by the model akin-9:00c0ffee, but akin uses ${codebookOf('content').model}`,
    );
  });

  it('is not accepted for another module', () => {
    const text = encodeDescriptor(unit(1), 'duplicate');
    expect(() => decodeDescriptor(text, 'content')).toThrow('is a descriptor of the module duplicate');
  });
});

describe('scores', () => {
  it.each(MODULES)('of %s are 1 at distance 0 alone and fall strictly to 0', (module) => {
    expect(scoreOf(module, 0)).toBe(1);
    for (const tiny of [5e-324, 6e-8, 1e-6]) expect(scoreOf(module, tiny)).toBeLessThan(1);
    let last = 1;
    for (let step = 1; step <= 2000; step++) {
      const score = scoreOf(module, step / 1000);
      expect(score).toBeLessThan(last);
      last = score;
    }
    expect(last).toBe(0);
    expect(scoreOf(module, 2.001)).toBe(0);
  });

  it.each(MODULES)('of %s turn back into the distances that have them', (module) => {
    for (const score of [0.01, 0.1, 0.29, 0.3, 0.5, 0.7, 0.99]) {
      expect(scoreOf(module, distanceAt(module, score))).toBeCloseTo(score, 12);
    }
    expect(distanceAt(module, 1)).toBe(0);
    expect(distanceAt(module, 0)).toBeGreaterThan(2);
  });

  it.each(MODULES)('of %s, taken as a threshold, let the very distances in that have them', (module) => {
    for (let step = 1; step < 2000; step++) {
      // As the database computes it: the square root of a single-precision number.
      const distance = Math.sqrt(Math.fround((step / 1000) ** 2));
      expect(distanceAt(module, scoreOf(module, distance))).toBeGreaterThanOrEqual(distance);
      expect(scoreOf(module, distanceAt(module, scoreOf(module, distance)) + 1e-9)).toBeLessThan(
        scoreOf(module, distance),
      );
    }
  });
});

describe('several inputs in one query', () => {
  it('leave a single one, and the same one twice, as it is', () => {
    for (const seed of [0.3, 1.1, 2.7]) {
      const vector = unit(seed);
      expect(combine([vector], [0.37])).toEqual(vector);
      expect(combine([vector, vector], [1, 3])).toEqual(vector);
      expect(combine([vector, vector, vector], [1e308, 1e308, 0.1])).toEqual(vector);
    }
  });

  it('do not change the vector of few numbers, whose length rounding changes most', () => {
    for (let seed = 1; seed < 200; seed++) {
      const vector = unit(seed, 2);
      expect(combine([vector], [2])).toEqual(vector);
    }
  });

  it('make a unit vector that a weight draws near and a negative one pushes away', () => {
    const a = unit(0.3);
    const b = unit(0.9);
    const both = combine([a, b], [1, 0.2]);
    expect(Math.hypot(...both)).toBeCloseTo(1, 3);
    expect(distance(both, a)).toBeLessThan(distance(both, b));
    expect(distance(combine([a, b], [1, -0.5]), b)).toBeGreaterThan(distance(a, b));
  });

  it('are rejected if they cancel each other out', () => {
    const a = unit(0.3);
    expect(() => combine([a, a], [1, -1])).toThrow('cancel each other out');
    expect(() => combine([a], [0])).toThrow('cancel each other out');
  });
});

describe('outputs that clients send back', () => {
  let text: string;
  let outputs: Record<string, unknown>;
  /** The rerank codes are inserted as digits, because JSON.parse would round them. */
  const edited = (changes: Record<string, unknown>) => {
    const quoted = text.replaceAll(/(_rerank":)(-?\d+)/g, '$1"$2"');
    const merged = JSON.stringify({ ...JSON.parse(quoted), ...changes });
    return merged.replaceAll(/(_rerank":)"(-?\d+)"/g, '$1$2');
  };
  beforeAll(async () => {
    text = (await analyzeImage(await makeThumbnailFromPixels(disc('#FFFFFF', '#208040')))).outputs;
    outputs = JSON.parse(text);
  });

  it('are values of their types, with a vector for each module', () => {
    const { fields, descriptors } = parseOutputs(text);
    expect(fields.size).toBe(20);
    expect(fields.get('color_isolated')).toBe(true);
    expect(fields.get('content_cluster')).toBe(BigInt(outputs.content_cluster as number));
    expect(typeof fields.get('duplicate_rerank')).toBe('bigint');
    expect(fields.get('copyspace')).toEqual((outputs.copyspace as number[]).map(BigInt));
    expect([...descriptors.keys()]).toEqual(MODULES);
    for (const [module, { vector }] of descriptors) {
      expect(fields.get(`${module}_cluster`)).toBe(BigInt(nearestCells(codebookOf(module), vector)[0] as number));
    }
  });

  it('may be of some modules only, and may contain unknown keys', () => {
    const { content_descriptor } = outputs;
    const { fields, descriptors } = parseOutputs(
      JSON.stringify({ content_descriptor, smell: { deep: [1] }, copyspace: null }),
    );
    expect([...descriptors.keys()]).toEqual(['content']);
    expect(fields.has('copyspace')).toBe(false);
    expect(parseOutputs('{}')).toMatchObject({ fields: new Map(), descriptors: new Map() });
  });

  it('have the same vectors where they are only to rank by, and are checked as well', () => {
    const { descriptors } = parseOutputs(text);
    for (const changes of [{}, { content_rerank: '-12' }, { duplicate_lopq: undefined }]) {
      const read = parseOutputs(edited(changes), true).descriptors;
      expect([...read.keys()]).toEqual(MODULES);
      for (const [module, { vector }] of read) expect(vector).toEqual(descriptors.get(module)?.vector);
    }
    for (const changes of [{ color_lopq: '?' }, { color_nclusters: '?' }, { color_descriptor: 'AAAA' }]) {
      const errorOf = (rankOnly: boolean) => {
        try {
          parseOutputs(edited(changes), rankOnly);
          return undefined;
        } catch (error) {
          return (error as Error).message;
        }
      };
      expect(errorOf(true)).toContain(Object.keys(changes)[0]);
      expect(errorOf(true)).toBe(errorOf(false));
    }
  });

  it('does not compute codes again where they are only to rank by', () => {
    const { fields } = parseOutputs(edited({ content_rerank: '-12' }), true);
    expect(fields.get('content_rerank')).toBe(-12n);
  });

  it('are written again byte for byte from what is stored of a descriptor', () => {
    for (const [module, { model, halves, codes }] of parseOutputs(text).descriptors) {
      const texts = descriptorTexts(module, model, { halves, codes });
      expect([...texts.keys()]).toEqual([`${module}_descriptor`, `${module}_lopq`, `${module}_nclusters`]);
      for (const [name, written] of texts) expect(written).toBe(outputs[name]);
    }
    const { halves, codes } = parseOutputs(text).descriptors.get('content') as OutputDescriptor;
    const other = descriptorTexts('content', 'other:1', { halves, codes }).get('content_descriptor') ?? '';
    expect(decodeDescriptor(other, 'content', { model: 'other:1', dimensions: 256 })).toEqual(
      readHalves(halves, 0, 256),
    );
  });

  it('get new codes of this codebook if theirs come from another, are missing or contradict each other', () => {
    const right = parseOutputs(text);
    const foreign = Buffer.from(outputs.content_lopq as string, 'base64');
    foreign[1] = 255 - (foreign[1] ?? 0);
    for (const changes of [
      { content_lopq: foreign.toString('base64') },
      { content_lopq: 'AAAA' },
      { content_lopq: undefined },
      { content_rerank: null },
      { content_cluster: 99999 },
      { content_nclusters: '//8=' },
      { content_nclusters: '' },
      { content_cluster: -1, content_lopq: undefined, content_nclusters: undefined, content_rerank: undefined },
    ]) {
      const { fields, descriptors } = parseOutputs(edited(changes));
      expect(Object.fromEntries(fields)).toEqual(Object.fromEntries(right.fields));
      expect(descriptors).toEqual(right.descriptors);
    }
  });

  it('are computed again if consistent codes belong to another picture', () => {
    const right = parseOutputs(text);
    const other = encodeCodes(codebookOf('content'), unit(3));
    const codes = { content_cluster: other.cluster, content_nclusters: other.nclusters, content_lopq: other.lopq };
    const changed = [
      { content_rerank: '-12' },
      { ...codes, content_rerank: String(other.rerank) },
      // The signature is right, but the cells show that the codes do not belong to the descriptor.
      codes,
    ];
    for (const changes of changed) {
      const { fields, descriptors } = parseOutputs(edited(changes));
      expect(Object.fromEntries(fields)).toEqual(Object.fromEntries(right.fields));
      expect(descriptors).toEqual(right.descriptors);
    }
  });

  describe('hostile or broken', () => {
    const descriptor = (change: (bytes: Buffer) => Buffer | undefined) => {
      const bytes = Buffer.from(outputs.content_descriptor as string, 'base64');
      return edited({ content_descriptor: (change(bytes) ?? bytes).toString('base64') });
    };
    const vectorAt = (bytes: Buffer) => bytes.length - 512;
    const cases: [string, () => string, string][] = [
      ['is not JSON', () => '{', 'The JSON cannot be read'],
      ['is not an object', () => '[1]', 'are a JSON object'],
      [
        'is a whole response',
        () => JSON.stringify({ responseHeader: {}, outputs: text }),
        'Send the text in its "outputs"',
      ],
      ['is a hundred megabytes', () => 'x'.repeat(100_000_000), 'at most 100000 characters'],
      ['nests without end', () => `{"a":${'['.repeat(40_000)}`, 'at most 4 deep'],
      [
        'has a descriptor that is a number',
        () => edited({ content_descriptor: 5 }),
        'content_descriptor must hold text',
      ],
      [
        'has a descriptor that is not base64',
        () => edited({ content_descriptor: 'é===' }),
        'content_descriptor is not base64',
      ],
      [
        'has a descriptor of nothing',
        () => edited({ content_descriptor: '' }),
        'is not a descriptor that this version',
      ],
      [
        'has a descriptor of 30,000 letters',
        () => edited({ content_descriptor: 'A'.repeat(30_000) }),
        'content_descriptor',
      ],
      [
        'has a descriptor cut in its vector',
        () => descriptor((bytes) => bytes.subarray(0, -2)),
        'does not hold 256 numbers',
      ],
      ['has a descriptor cut in its header', () => descriptor((bytes) => bytes.subarray(0, 6)), 'is not a descriptor'],
      [
        'has a descriptor of a later format',
        () => descriptor((bytes) => void bytes.fill(2, 0, 1)),
        'is not a descriptor',
      ],
      [
        'has numbers that are none',
        () => descriptor((bytes) => void bytes.writeUInt16LE(0x7e00, vectorAt(bytes))),
        'length 1',
      ],
      [
        'has infinite numbers',
        () => descriptor((bytes) => void bytes.writeUInt16LE(0x7c00, vectorAt(bytes))),
        'length 1',
      ],
      ['has a vector of zeros', () => descriptor((bytes) => void bytes.fill(0, vectorAt(bytes))), 'length 1'],
      [
        'has a vector that is too long',
        () => descriptor((bytes) => void writeHalves([1, 1], bytes, vectorAt(bytes))),
        'length 1',
      ],
      ['has codes without a descriptor', () => edited({ content_descriptor: null }), 'came without content_descriptor'],
      ['has a code that is not base64', () => edited({ content_lopq: '<b>' }), 'content_lopq is not base64'],
      [
        'has a cluster that is not an integer',
        () => edited({ content_cluster: 1.5 }),
        'content_cluster must hold whole numbers',
      ],
      ['has a code beyond 64 bits', () => edited({ content_rerank: '9223372036854775808' }), 'beyond 64 bits'],
      ['has text for a boolean', () => edited({ color_isolated: 'true' }), 'color_isolated must be true or false'],
      ['has a number for an array', () => edited({ copyspace: 3 }), 'copyspace must be an array'],
      ['has an array in an array', () => edited({ copyspace: [[1]] }), 'copyspace must hold whole numbers'],
      ['has a cell that the grid lacks', () => edited({ copyspace: [9] }), 'copyspace must lie in 0 to 8'],
      [
        'has a million colours',
        () => edited({ color_names: Array(5000).fill('red') }),
        'color_names has 5000 elements',
      ],
      [
        'has script for a colour',
        () => edited({ color_palette_hex: ['red;background:url(x)'] }),
        'color_palette_hex contains',
      ],
      ['has a share above 1', () => edited({ color_palette_freq: [2] }), 'color_palette_freq must lie in 0 to 1'],
      ['has NUL in a name', () => edited({ color_names: ['re\0d'] }), 'color_names contains'],
      ['has half a character in a name', () => edited({ color_names: ['\ud800'] }), 'color_names contains'],
    ];
    it.each(cases)('%s: refused by name', (_, hostile, message) => {
      let error: unknown;
      try {
        parseOutputs(hostile());
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(AkinError);
      expect((error as AkinError).code).toBe('bad-request');
      expect((error as AkinError).message).toContain(message);
      expect((error as AkinError).message.length).toBeLessThan(300);
    });
  });
});
