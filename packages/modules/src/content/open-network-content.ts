import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { contentCodebook } from '../content-model/files.ts';
import { requireName } from '../model-folder/content.ts';
import type { Module } from '../module.ts';
import { useCodebook } from '../vectors/codebook.ts';
import { contentDescriptorOf } from './describe.ts';
import { NETWORK_FILES } from './network-folder.ts';

/**
 * Opens a network in akin's layout for the module content, such as one of an earlier release. The thread's codebook
 * becomes that of the network.
 *
 * @param name The model name that outputs must contain, because other threads of this process use it; empty allows any.
 * @throws {AkinError} unavailable when its name is not `name`.
 */
export async function openNetworkContent(folder: string, name = ''): Promise<Module['analyze']> {
  const codebook = contentCodebook(folder);
  requireName({ folder, id: codebook.model }, name);
  useCodebook('content', codebook);
  const network = pathToFileURL(join(folder, '/'));
  const axes = new URL(NETWORK_FILES.axes, network);
  return async (picture) => contentDescriptorOf(picture, await picture.features(network), axes);
}
