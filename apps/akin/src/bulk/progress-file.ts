import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { InputPosition } from './line.ts';
import type { PendingRange } from './operation-watcher.ts';

/** What a run stores for the next one, in case it is interrupted. */
export interface Progress {
  /** Everything before it is finished. */
  readonly start: InputPosition;
  readonly accepted: number;
  readonly rejected: number;
  /** Accepted documents whose pictures were not analyzed yet. */
  readonly followed: readonly PendingRange[];
  /** Accepted operations without a picture to wait for, inclusive at both ends. A commit may still refuse them. */
  readonly ranges: readonly (readonly [first: number, last: number])[];
  /** The newest operation and its token. The token is empty if nothing was accepted. */
  readonly newest: { readonly seq: number; readonly token: string };
}

interface ProgressFileContent extends Progress {
  readonly format: 1;
  readonly of: string;
}

/**
 * A small file next to the input that says how far a run came. It is valid only for the same input (by length and
 * modification time) and the same collection.
 */
export class ProgressFile {
  readonly #file: string;
  readonly #of: string;
  #writing: Promise<void> = Promise.resolve();
  /** If the folder cannot be written, this is reported once and the import continues. */
  #isRefused = false;

  private constructor(file: string, of: string) {
    this.#file = file;
    this.#of = of;
  }

  /** @throws the system's error if the input cannot be read */
  static async nextTo(input: string, url: string, collection: string): Promise<ProgressFile> {
    const { size, mtimeMs } = await stat(input);
    return new ProgressFile(`${input}.progress`, JSON.stringify([size, mtimeMs, url, collection]));
  }

  async read(): Promise<Progress | undefined> {
    const text = await readFile(this.#file, 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    try {
      const stored = JSON.parse(text) as ProgressFileContent;
      return stored.format === 1 && stored.of === this.#of ? stored : undefined;
    } catch {
      return undefined;
    }
  }

  write(progress: Progress): Promise<void> {
    const stored: ProgressFileContent = { format: 1, of: this.#of, ...progress };
    this.#writing = this.#writing.then(async () => {
      if (this.#isRefused) return;
      try {
        await writeFile(`${this.#file}.new`, JSON.stringify(stored));
        await rename(`${this.#file}.new`, this.#file);
      } catch (error) {
        this.#isRefused = true;
        process.stderr.write(`${(error as Error).message}. A run that is interrupted will start from the beginning.\n`);
      }
    });
    return this.#writing;
  }

  async remove(): Promise<void> {
    await this.#writing;
    await rm(this.#file, { force: true });
  }
}
