import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { axesFile } from '@akin/modules/internal/weights/axes-file';
import { writeSafetensors } from '@akin/modules/internal/weights/safetensors';

/** Writes the file for `readAxes`. Returns the suffix of the model's name: a hash of tensors and rule. */
export async function writeAxes(
  module: string,
  network: string,
  pictures: number,
  tensors: Parameters<typeof writeSafetensors>[0],
  rule: string,
): Promise<string> {
  const sha256 = createHash('sha256').update(writeSafetensors(tensors, { rule })).digest('hex');
  const metadata = { network, sha256, pictures: String(pictures), rule };
  await writeFile(axesFile(module), writeSafetensors(tensors, metadata));
  return sha256.slice(0, 8);
}
