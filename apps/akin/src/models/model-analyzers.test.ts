import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AkinError } from '@akin/domain';
import { type Analyzer, type AnalyzerConfig, createAnalyzer } from '@akin/modules/analyze';
import { modelSetWith } from '@akin/modules/vectors';
import { drawImage, TINY_TOWERS } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createModelAnalyzers, type ModelLimits } from './model-analyzers.ts';

const NEVER = new AbortController().signal;

let place: string;
let picture: Uint8Array;
/** Folders of models that differ only in their names, by the names in outputs. */
const folders = new Map<string, string>();

beforeAll(async () => {
  place = await mkdtemp(path.join(tmpdir(), 'akin-model-analyzers-'));
  picture = await drawImage({ width: 60, height: 40 });
  for (const name of ['one', 'two']) await copyAs(name);
});
afterAll(() => rm(place, { recursive: true }));

async function copyAs(name: string): Promise<string> {
  const folder = path.join(place, name);
  await cp(TINY_TOWERS, folder, { recursive: true });
  const file = path.join(folder, 'config.json');
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), _name_or_path: name }));
  const model = modelSetWith(folder).models.get('content') ?? '';
  folders.set(model, folder);
  return model;
}

/** Analyzers of the models, and how many of them are open. */
async function analyzers(limits: Partial<ModelLimits>) {
  const folderOf = async (model: string) => {
    const folder = folders.get(model);
    if (folder === undefined) throw new AkinError('conflict', `The content model ${model} is not here.`);
    return folder;
  };
  const open = { now: 0, most: 0 };
  const count = async (config: AnalyzerConfig): Promise<Analyzer> => {
    open.most = Math.max(open.most, ++open.now);
    try {
      const one = await createAnalyzer(config);
      const close = async () => {
        await one[Symbol.asyncDispose]();
        open.now--;
      };
      return { ...one, [Symbol.asyncDispose]: close };
    } catch (error) {
      open.now--;
      throw error;
    }
  };
  const analyzer = await createModelAnalyzers({ threads: 1 }, { folderOf }, limits, count);
  const modelOf = async (model: string | undefined) => {
    const { outputs } = await analyzer.analyze(picture, { modules: ['content'], model });
    const bytes = Buffer.from(JSON.parse(outputs).content_descriptor, 'base64').toString('latin1');
    return /(one|two|broken|akin-4):/.exec(bytes)?.[1];
  };
  return { analyzer, modelOf, open };
}

const [ONE, TWO] = [0, 1].map((i) => () => [...folders.keys()][i] as string) as [() => string, () => string];

describe('analyzers of several content models', () => {
  it('replace each other when too many are needed, and lose no call', async () => {
    const { analyzer, modelOf, open } = await analyzers({ maxOpen: 1 });
    await using _ = analyzer;
    const wanted = [ONE(), TWO(), undefined, ONE()];
    const names = ['one', 'two', 'akin-4', 'one'];
    expect(await Promise.all(wanted.map(modelOf))).toEqual(names);
    expect(await modelOf(TWO())).toBe('two');
    expect(open).toEqual({ now: 2, most: 2 });
  });

  it('are waited for only as long as the caller waits', async () => {
    const { analyzer, modelOf } = await analyzers({ maxOpen: 1 });
    await using _ = analyzer;
    const stop = new AbortController();
    const one = modelOf(ONE());
    const two = analyzer.analyze(picture, { modules: ['content'], model: TWO(), signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(two).rejects.toThrow('enough');
    expect([await one, await modelOf(TWO())]).toEqual(['one', 'two']);
  });

  it('close after a while without calls, and open again', async () => {
    const { analyzer, modelOf, open } = await analyzers({ idleMilliseconds: 1 });
    await using _ = analyzer;
    expect(await modelOf(ONE())).toBe('one');
    await analyzer.encodeText('red', NEVER, ONE());
    while (open.now > 1) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await modelOf(ONE())).toBe('one');
  });

  it('answer 409 with what is wrong with a model, without its path', async () => {
    const { analyzer, modelOf } = await analyzers({});
    await using _ = analyzer;
    const broken = await copyAs('broken');
    const file = path.join(folders.get(broken) ?? '', 'onnx', 'vision_model.onnx');
    const whole = await readFile(file);
    const refusal = () => modelOf(broken).catch((error: AkinError) => [error.code, error.message]);
    await writeFile(file, whole.subarray(0, 100));
    expect(await refusal()).toEqual([
      'conflict',
      expect.stringMatching(/^The content model broken:\S+ does not work here: its folder now contains broken:\S+\./),
    ]);
    await rm(file);
    expect(await refusal()).toEqual([
      'conflict',
      expect.stringContaining('does not work here: its folder has no onnx/vision_model.onnx'),
    ]);
    await writeFile(file, whole);
    expect(await modelOf(broken)).toBe('broken');
    await expect(modelOf('other:1')).rejects.toMatchObject({
      code: 'conflict',
      message: 'The content model other:1 is not here.',
    });
  });

  it('end with the process, even while they work', async () => {
    const { analyzer, modelOf, open } = await analyzers({ maxOpen: 1 });
    const calls = [ONE(), TWO()].map((model) => modelOf(model).catch((error: AkinError) => error.code));
    await analyzer[Symbol.asyncDispose]();
    for (const end of await Promise.all(calls)) expect(['one', 'two', 'unavailable']).toContain(end);
    await expect(modelOf(ONE())).rejects.toMatchObject({ code: 'unavailable' });
    expect(open.now).toBe(0);
  });
});
