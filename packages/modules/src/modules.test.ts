import { roundToHalves, stringifyJson } from '@akin/domain';
import type { Pixels } from '@akin/imaging';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { sharedNetworks } from './analyzer/analyze-image.ts';
import { loadModule } from './analyzer/load-module.ts';
import { writeOutputs } from './analyzer/write-outputs.ts';
import { MODULES, moduleNames, parseModulesApply } from './manifests.ts';
import type { Descriptor, Module, ModuleValues } from './module.ts';
import { COPIES_FOLDER, MODEL_FOLDER, readModel } from './network/model.ts';
import { type Picture, preparePicture } from './picture/picture.ts';
import { codebookOf } from './vectors/codebook.ts';
import { decodeDescriptor } from './vectors/descriptor.ts';
import { parseOutputs } from './vectors/parse-outputs.ts';
import { distance, length } from './vectors/unit.ts';

const prepare = (pixels: Pixels): Picture => preparePicture(pixels, sharedNetworks('wasm'));

/** The contract of every module: a new one is tested as soon as it is in the registry. */
describe.each(MODULES.map((manifest) => [manifest.name, manifest] as const))('the module %s', (name, manifest) => {
  let module: Module;
  /** The values of each example. */
  let analyzed: ModuleValues[];
  beforeAll(async () => {
    module = await loadModule(name);
    analyzed = [];
    for (const { picture } of module.examples) analyzed.push(await module.analyze(prepare(picture())));
  });

  it('is registered by the manifest that it carries', () => {
    expect(module.manifest).toBe(manifest);
    expect(name).toMatch(/^[a-z][a-z0-9]*$/);
  });

  it('names its outputs after itself, each once', () => {
    const names = manifest.outputs.map((output) => output.name);
    expect(new Set(names).size).toBe(names.length);
    for (const output of names) expect(output === name || output.startsWith(`${name}_`)).toBe(true);
  });

  it('meets the expectations of its examples', async () => {
    expect(module.examples.length).toBeGreaterThan(0);
    for (const [i, example] of module.examples.entries()) {
      const values = analyzed[i] as ModuleValues;
      if ('expected' in example) {
        expect({ title: example.title, ...values }).toMatchObject({ title: example.title, ...example.expected });
      } else {
        const output = manifest.descriptor?.output ?? '';
        const vector = (values[output] as Descriptor).vector;
        const to = async (pixels: Pixels) => {
          const other = (await module.analyze(prepare(pixels)))[output] as Descriptor;
          return distance(vector, other.vector);
        };
        expect({
          title: example.title,
          nearer: (await to(example.nearPicture())) < (await to(example.farPicture())),
        }).toEqual({
          title: example.title,
          nearer: true,
        });
      }
    }
  });

  it('gives equal values for equal pixels, and leaves the pixels alone', async () => {
    const pixels = module.examples[0]?.picture() as Pixels;
    const before = pixels.data.slice();
    expect(await module.analyze(prepare(pixels))).toEqual(analyzed[0]);
    expect(pixels.data).toEqual(before);
  });

  it('copes with a single pixel, lines and extreme shapes', async () => {
    for (const [width, height] of [
      [1, 1],
      [1, 500],
      [500, 1],
      [2, 2],
      [3000, 3],
    ] as const) {
      const data = new Uint8Array(width * height * 3).fill(255);
      const values = await module.analyze(prepare({ width, height, data }));
      expect(() => writeOutputs(manifest, values)).not.toThrow();
    }
  });

  it('writes outputs that are read back as the same values', () => {
    for (const values of analyzed) {
      const written = writeOutputs(manifest, values);
      const text = stringifyJson(written);
      const { fields, descriptors } = parseOutputs(text);
      expect([...fields.keys()]).toEqual(manifest.outputs.map((output) => output.name));
      expect([...descriptors.keys()]).toEqual(manifest.descriptor ? [name] : []);
      // Round trip: writing what was read gives the same text.
      const again = Object.fromEntries(Array.from(fields));
      expect(parseOutputs(stringifyJson(again)).fields).toEqual(fields);
    }
  });

  const { descriptor } = manifest;
  if (descriptor === undefined) return;

  it('has the outputs of a descriptor and a codebook for its model', () => {
    const values = analyzed[0] as ModuleValues;
    const { model, vector } = values[descriptor.output] as Descriptor;
    expect(codebookOf(name).model).toBe(model);
    expect(model).toMatch(/^[\w.:-]{1,100}$/);
    expect(vector.length).toBe(descriptor.dimensions);
    expect(length(vector)).toBeCloseTo(1, 5);
    const outputs = manifest.outputs.map((output) => output.name);
    for (const key of ['cluster', 'rerank', 'descriptor', 'lopq', 'nclusters'])
      expect(outputs).toContain(`${name}_${key}`);
    const written = writeOutputs(manifest, values);
    expect(decodeDescriptor(written.get(descriptor.output) as string, name)).toEqual(roundToHalves(vector));
  });
});

describe('the registry', () => {
  it('names no output twice', () => {
    const names = MODULES.flatMap(({ outputs }) => outputs.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
  });

  it('reads modules.apply in any order, without repetitions, all when empty', () => {
    expect(parseModulesApply(undefined)).toEqual(moduleNames);
    expect(parseModulesApply(' , ')).toEqual(moduleNames);
    expect(parseModulesApply('duplicate, color,duplicate')).toEqual(['color', 'duplicate']);
  });

  it('names an unknown module and those that exist', () => {
    expect(() => parseModulesApply('content,Smell')).toThrow(
      `modules.apply names "Smell", which is not a module. Use some of ${MODULES.map(({ name }) => name).join(', ')}.`,
    );
  });
});

describe('what a picture shares between modules', () => {
  it('is computed once, and no network is loaded unless a module needs it', async () => {
    const opened: string[] = [];
    const ran: string[] = [];
    const open = async (folder: URL) => {
      const { id: model, spec } = await readModel(folder);
      opened.push(model);
      return {
        width: 1,
        height: 1,
        async run() {
          ran.push(model);
          const pool = new Float32Array(1024).fill(0.1);
          return [{ model, pool, vector: new Float32Array(spec.head.dim).fill(0.1) }];
        },
      };
    };
    const picture = preparePicture({ width: 2, height: 2, data: new Uint8Array(12) }, open);
    const analyzeBy = async (name: string) => (await loadModule(name)).analyze(picture);
    for (const name of ['color', 'copyspace']) await analyzeBy(name);
    expect(opened).toEqual([]);
    await analyzeBy('duplicate');
    const { id: copies } = await readModel(COPIES_FOLDER);
    expect([opened, ran]).toEqual([[copies], [copies]]);
    for (const name of ['content', 'content']) await analyzeBy(name);
    const { id: main } = await readModel(MODEL_FOLDER);
    expect([opened, ran]).toEqual([
      [copies, main],
      [copies, main],
    ]);
  });
});
