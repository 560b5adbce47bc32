import { statSync } from 'node:fs';
import { badRequest } from '@akin/domain';

/**
 * Call this before a file of a user's folder is read: opening a pipe or a device can block for ever, and then no signal
 * ends the process. A missing file is left to the reader.
 *
 * @throws {AkinError} bad-request when it is something else than a file, or larger than `maxMegabytes`.
 */
export function requireRegularFile(file: string | URL, maxMegabytes = Number.POSITIVE_INFINITY): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isFile()) throw badRequest(`${String(file)} is not a file.`);
  if (stats.size <= maxMegabytes * 1e6) return;
  throw badRequest(`${String(file)} is larger than ${maxMegabytes} MB.`);
}
