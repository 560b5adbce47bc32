import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { MODULES, moduleNames } from '../manifests.ts';
import type { Backend } from '../network/backend.ts';
import { decodeDescriptor } from '../vectors/descriptor.ts';
import { modelNames } from '../vectors.ts';
import { type Analyzer, createAnalyzer } from './create-analyzer.ts';

/** As text: JavaScript numbers cannot hold 64-bit integers. */
const { models, outputs: stored } = JSON.parse(
  await readFile(new URL('../../test/stored-outputs.json', import.meta.url), 'utf8'),
) as { models: string; outputs: Record<string, string> };
const files = Object.keys(stored);

const picture = (file: string) => readFile(new URL(`../../test/pictures/${file}`, import.meta.url));
/**
 * Not a bare pool: a native package that only a thread has loaded cannot be loaded again after that thread has ended.
 */
const open = (threads: number, backend: Backend) => createAnalyzer({ threads, backend });

/** The failure message says what to do after an intended change of the outputs. */
function fail(what: string): never {
  throw new Error(
    `${what}. If the change is meant, write the file again: npm run store-outputs. If it is not, equal pictures would get other outputs than those in stores.`,
  );
}

async function analyzed(analyzer: Analyzer, names: readonly string[]): Promise<Map<string, string>> {
  const texts = await Promise.all(
    names.map(async (file) => {
      const { outputs } = await analyzer.analyze(await picture(file), { modules: moduleNames });
      return [file, outputs] as const;
    }),
  );
  return new Map(texts);
}

/** Fails with the names of the outputs that differ from the stored ones. */
function expectStored(given: ReadonlyMap<string, string>): void {
  for (const [file, text] of given) {
    const [now, then] = [text, stored[file] as string].map(entriesOf);
    const names = new Set([...(then?.keys() ?? []), ...(now?.keys() ?? [])]);
    const changed = [...names].filter((key) => then?.get(key) !== now?.get(key));
    if (changed.length > 0 || text !== stored[file]) fail(`${file} has other outputs than stored: ${changed}`);
  }
}

/** Each output as text, so that 64-bit integers keep all digits. */
function entriesOf(text: string): Map<string, string> {
  const wholeNumbers = text.replace(/("\w+_rerank":)(-?\d+)/g, '$1"$2"');
  return new Map(Object.entries(JSON.parse(wholeNumbers)).map(([key, value]) => [key, JSON.stringify(value)]));
}

describe('stored outputs', () => {
  it('are of the models that run', () => {
    if (models !== modelNames()) fail(`The stored outputs are of ${models}, and these run: ${modelNames()}`);
  });

  it('are exactly equal in every thread and order', async () => {
    await using one = await open(1, 'wasm');
    expectStored(await analyzed(one, files));
    await using three = await open(3, 'wasm');
    expectStored(await analyzed(three, files.toReversed()));
  });
});

describe('the outputs on onnx', () => {
  let given: Map<string, string>;
  beforeAll(async () => {
    await using analyzer = await open(1, 'onnx');
    given = await analyzed(analyzer, files);
  });

  it('have equal palettes, names and copyspace', () => {
    const equal = MODULES.flatMap(({ outputs, descriptor }) =>
      descriptor ? outputs.filter(({ name }) => /palette|names|isolated/.test(name)) : outputs,
    ).map(({ name }) => name);
    expect(equal).toContain('copyspace');
    for (const [file, text] of given) {
      const [now, then] = [entriesOf(text), entriesOf(stored[file] as string)];
      for (const name of equal) expect([file, name, now.get(name)]).toEqual([file, name, then.get(name)]);
    }
  });

  it('have descriptors within 1e-4 before they are rounded', () => {
    for (const [file, text] of given) {
      const [now, then] = [JSON.parse(text), JSON.parse(stored[file] as string)];
      for (const { name, descriptor } of MODULES) {
        if (descriptor === undefined) continue;
        const [a, b] = [now, then].map((outputs) => decodeDescriptor(outputs[descriptor.output], name));
        a?.forEach((value, at) => {
          const other = b?.[at] ?? Number.NaN;
          expect(Math.abs(value - other)).toBeLessThanOrEqual(
            1e-4 + stepAt(Math.max(Math.abs(value), Math.abs(other))),
          );
        });
      }
    }
  });
});

describe('a change', () => {
  it('is reported with file and output, and what to do', () => {
    const [file = ''] = files;
    const other = (stored[file] as string).replace(/"copyspace":\[[^\]]*\]/, '"copyspace":[1]');
    expect(() => expectStored(new Map([[file, other]]))).toThrow(
      `${file} has other outputs than stored: copyspace. If the change is meant, write the file again: npm run store-outputs`,
    );
    const more = (stored[file] as string).replace('{', '{"depth":1,');
    expect(() => expectStored(new Map([[file, more]]))).toThrow(`${file} has other outputs than stored: depth.`);
  });
});

/** The distance between adjacent half-precision numbers. */
function stepAt(value: number): number {
  return 2 ** (Math.max(-14, Math.floor(Math.log2(value || Number.MIN_VALUE))) - 10);
}
