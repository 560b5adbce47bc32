import { Double, type ModuleManifest, type OutputField, roundToHalves } from '@akin/domain';
import type { Descriptor, ModuleValues } from '../module.ts';
import { codebookOf } from '../vectors/codebook.ts';
import { encodeCodes } from '../vectors/codes.ts';
import { encodeDescriptor } from '../vectors/descriptor.ts';

/**
 * The outputs of one module in the order of its manifest, ready to be written as JSON: its own values, and for a
 * descriptor the text and the codes. @throws Error when the values do not match the manifest
 */
export function writeOutputs(manifest: ModuleManifest, values: ModuleValues): Map<string, unknown> {
  const own = new Map<string, unknown>(Object.entries(values));
  if (manifest.descriptor !== undefined) {
    const { output } = manifest.descriptor;
    for (const [key, value] of describe(manifest.name, output, values[output] as Descriptor)) own.set(key, value);
  }
  const outputs = new Map<string, unknown>();
  for (const output of manifest.outputs) {
    const value = own.get(output.name);
    if (value === undefined) throw new Error(`The module ${manifest.name} returned no ${output.name}.`);
    outputs.set(output.name, written(output, value));
  }
  return outputs;
}

function describe(module: string, output: string, descriptor: Descriptor): [string, unknown][] {
  const codebook = codebookOf(module);
  if (descriptor.model !== codebook.model) {
    throw new Error(
      `The codebook of ${module} was trained for the model ${codebook.model}, and ${descriptor.model} runs. Run: npm run train-codebooks -- <folder>`,
    );
  }
  // Round first, so that codes computed from the text are equal.
  const vector = roundToHalves(descriptor.vector);
  const { cluster, nclusters, lopq, rerank } = encodeCodes(codebook, vector);
  return [
    [output, encodeDescriptor(vector, module)],
    [`${module}_cluster`, cluster],
    [`${module}_nclusters`, nclusters],
    [`${module}_lopq`, lopq],
    [`${module}_rerank`, rerank],
  ];
}

/** Decimal numbers are written with a fraction even if they are whole, so that readers see their type. */
function written({ type }: OutputField, value: unknown): unknown {
  if (type === 'double') return new Double(value as number);
  if (type === 'doubles') return (value as number[]).map((element) => new Double(element));
  return value;
}
