import { readFile } from 'node:fs/promises';
import { requireRegularFile } from './require-regular-file.ts';
import { readSafetensors, type Tensors } from './safetensors.ts';

/**
 * The file with the axes onto which a module projects its features, `models/<module>-axes.safetensors`. `npm run
 * train-axes` computes it from a folder of pictures, for one network. New axes mean a new model.
 */
export function axesFile(module: string): URL {
  return new URL(`../../models/${module}-axes.safetensors`, import.meta.url);
}

/**
 * Reads the axes of a module.
 * @param model The name of the network in use.
 * @param rule The rule by which the module prepares pictures.
 * @throws Error when the axes were trained for another network or rule.
 */
export async function readAxes(module: string, model: string, rule: string): Promise<{ tensors: Tensors; id: string }> {
  const file = axesFile(module);
  const label = file.pathname.split('/').slice(-2).join('/');
  requireRegularFile(file);
  const tensors = readSafetensors(await readFile(file), label);
  const { network, sha256 } = tensors.metadata;
  if (tensors.metadata.rule !== rule) {
    throw new Error(`${label} belongs to another rule of the module: train it again.`);
  }
  if (network !== model || !sha256) {
    throw new Error(`${label} belongs to the network ${network}, not ${model}: train it again.`);
  }
  return { tensors, id: sha256.slice(0, 8) };
}
