import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

/** Made by the build. Resolves to the same file from src/engine (under jest) and from dist/engine. */
export const EMPTY_DATABASE = new URL('../../dist/empty-database.br', import.meta.url);

/** What the first line says: names, and the sizes of the files, whose bytes follow in this order. */
interface Listing {
  /** A directory comes before those in it. */
  readonly directories: readonly string[];
  readonly files: readonly (readonly [name: string, size: number])[];
}

/** A data directory in one piece, compressed. */
export function packDatabase(directory: string): Uint8Array {
  const directories: string[] = [];
  const files: [string, number][] = [];
  const contents: Uint8Array[] = [];
  const read = (below: string) => {
    for (const entry of readdirSync(join(directory, below), { withFileTypes: true })) {
      const name = `${below}${entry.name}`;
      if (entry.isDirectory()) {
        directories.push(name);
        read(`${name}/`);
      } else {
        const content = readFileSync(join(directory, name));
        files.push([name, content.length]);
        contents.push(content);
      }
    }
  };
  read('');
  const listing: Listing = { directories, files };
  // The log repeats what the files contain, megabytes later. Quality 9 takes seven times as long, for a fifth less.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 24 };
  return brotliCompressSync(Buffer.concat([Buffer.from(`${JSON.stringify(listing)}\n`), ...contents]), { params });
}

/**
 * Makes an empty database, for its owner only, from the one of the build: PostgreSQL needs 3 s of a processor to create
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
