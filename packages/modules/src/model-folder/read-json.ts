import { readFileSync } from 'node:fs';
import { AkinError, badRequest } from '@akin/domain';
import { requireRegularFile } from '../weights/require-regular-file.ts';

export type Refuse = (why: string) => AkinError;

export function errorFactory(file: string): Refuse {
  return (why) => badRequest(`${file} ${why}.`);
}

/** The largest tokenizers take some 35 MB, and all other files of a configuration much less. */
const MAX_MEGABYTES = 64;

/** @throws {AkinError} bad-request when the file cannot be read, is too large, or is not a JSON object. */
export function readJsonObject(file: string): Record<string, unknown> {
  const refuse = errorFactory(file);
  let value: unknown;
  try {
    requireRegularFile(file, MAX_MEGABYTES);
    // Some editors on Windows write a byte order mark at the start.
    value = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch (cause) {
    if (cause instanceof AkinError) throw cause;
    const code = (cause as NodeJS.ErrnoException).code;
    throw refuse(code === undefined ? 'is not JSON' : `cannot be read (${code})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse('is not a JSON object');
  return value as Record<string, unknown>;
}
