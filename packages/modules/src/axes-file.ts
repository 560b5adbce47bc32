import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { readSafetensors, type Tensors, writeSafetensors } from './safetensors.ts';

/**
 * The axes on which a module compares what it sees, `models/<module>-axes.safetensors`: found by `npm run train-axes` on
 * a folder of pictures, for one network. With new axes descriptors are of another model.
 */
function axesFile(module: string): URL {
  return new URL(`../models/${module}-axes.safetensors`, import.meta.url);
}

/**
 * @param model The name of the network in use.
 * @throws an Error when the axes were found for another one.
 */
export async function readAxes(module: string, model: string): Promise<{ tensors: Tensors; id: string }> {
  const file = axesFile(module);
  const tensors = readSafetensors(await readFile(file), `${module}-axes.safetensors`);
  const { network, sha256 } = tensors.metadata;
  if (network !== model || !sha256) {
    throw new Error(
      `models/${module}-axes.safetensors belongs to the network ${network}, not ${model}: train it again.`,
    );
  }
  return { tensors, id: sha256.slice(0, 8) };
}

/** Writes what `readAxes` reads, and gives the mark in the model's name. */
export async function writeAxes(
  module: string,
  network: string,
  pictures: number,
  tensors: Parameters<typeof writeSafetensors>[0],
): Promise<string> {
  const sha256 = createHash('sha256').update(writeSafetensors(tensors, {})).digest('hex');
  await writeFile(axesFile(module), writeSafetensors(tensors, { network, sha256, pictures: String(pictures) }));
  return sha256.slice(0, 8);
}
