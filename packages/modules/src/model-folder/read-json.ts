import { readFileSync } from 'node:fs';
import { AkinError } from '@akin/domain';

/** Refuses a file: the message begins with its path. */
export type Refuse = (why: string) => AkinError;

export function refuser(file: string): Refuse {
  return (why) => new AkinError('bad-request', `${file} ${why}.`);
}

/** @throws {AkinError} bad-request when the file cannot be read or is no JSON object. */
export function readJsonObject(file: string): Record<string, unknown> {
  const refuse = refuser(file);
  let value: unknown;
  try {
    // Editors of Windows put a byte order mark in front.
    value = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    throw refuse(code === undefined ? 'is not JSON' : `cannot be read (${code})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse('is not a JSON object');
  return value as Record<string, unknown>;
}
