import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Files of a network in akin's layout, except its weights. */
export const NETWORK_FILES = {
  spec: 'model.json',
  axes: 'content-axes.safetensors',
  codebook: 'content-codebook.safetensors',
} as const;

/** Networks of earlier releases, each in a folder with its name, for the collections that they described. */
export const EARLIER_FOLDER = new URL('../../models/earlier/', import.meta.url);

/** Whether a folder contains a network in akin's layout with its axes and its codebook. */
export function isNetworkFolder(folder: string): boolean {
  return Object.values(NETWORK_FILES).every((file) => existsSync(join(folder, file)));
}

/** The names of the earlier networks that ship with akin, such as `akin-1`. */
export function earlierNetworks(): string[] {
  return existsSync(EARLIER_FOLDER) ? readdirSync(EARLIER_FOLDER).sort() : [];
}

/** The folder of an earlier network that ships with akin; undefined for another name. */
export function earlierNetworkFolder(name: string): string | undefined {
  return earlierNetworks().includes(name) ? join(fileURLToPath(EARLIER_FOLDER), name) : undefined;
}
