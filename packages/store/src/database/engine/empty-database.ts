import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

/** Made by `npm run empty-database`. Resolves to the same file from src (under jest) and from dist. */
const EMPTY_DATABASE = new URL('../../../empty-database.br', import.meta.url);

/** What the first line says: names, and the sizes of the files, whose bytes follow in this order. */
interface Listing {
  /** A directory comes before those in it. */
  readonly directories: readonly string[];
  readonly files: readonly (readonly [name: string, size: number])[];
}

/**
 * Makes an empty database, for its owner only, from the committed one: PostgreSQL needs 8 s of a processor to create
 * one. Blocks the process for a moment: writing many files costs several times as much processor time without blocking.
 */
export function unpackEmptyDatabase(directory: string): void {
  const bytes = brotliDecompressSync(readFileSync(EMPTY_DATABASE));
  let at = bytes.indexOf('\n') + 1;
  const { directories, files } = JSON.parse(bytes.toString('utf8', 0, at)) as Listing;
  for (const name of ['', ...directories]) mkdirSync(join(directory, name), { mode: 0o700 });
  for (const [name, size] of files) {
    writeFileSync(join(directory, name), bytes.subarray(at, at + size), { mode: 0o600 });
    at += size;
  }
}
