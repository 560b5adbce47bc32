import { createWriteStream, type WriteStream } from 'node:fs';
import { access, constants, link, rm } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../options.ts';
import { mayReplace } from '../output-file.ts';

const MAX_PRINTED_REASONS = 10;

/**
 * The refused documents: a file with one line each, `{"line":17,"id":"7","reason":"…"}`. The file is created with the
 * first one.
 */
export class Rejects {
  count = 0;
  readonly #reasons = new Map<string, number>();
  #out: WriteStream | undefined;
  #failure: Error | undefined;
  #file: string;
  /** The name of the file when it is complete, if no other import has taken it by then. */
  readonly #nameAtEnd: string;

  private constructor(file: string, nameAtEnd: string) {
    this.#file = file;
    this.#nameAtEnd = nameAtEnd;
  }

  get file(): string {
    return this.#file;
  }

  /**
   * @param isContinued keeps the lines of an earlier run
   * @param isShared other imports that run at the same time may have the same name
   * @throws {UsageError} if the file cannot be written
   */
  static async open(file: string, isContinued: boolean, isShared = false): Promise<Rejects> {
    const isFile = await mayReplace(file);
    await access(isFile ? path.dirname(path.resolve(file)) : file, constants.W_OK).catch((error: Error) => {
      throw new UsageError(`${file} cannot be written (${error.message}): choose another file with --rejects.`);
    });
    const { dir, name, ext } = path.parse(file);
    const own = isShared && isFile && !isContinued ? path.join(dir, `${name}-${process.pid}${ext}`) : file;
    if (isFile && !isContinued) for (const earlier of [file, own]) await rm(earlier, { force: true });
    return new Rejects(own, file);
  }

  /**
   * @param line its position in the input, if that is known
   * @throws {UsageError} if the file cannot be written any more
   */
  add(line: number | undefined, id: string | undefined, reason: string): void {
    this.count++;
    // Reasons that differ only in quoted values count as one.
    const kind = reason
      .replace(/"(?:[^"\\]|\\.)*"/g, '"…"')
      .replace(/\d{3,}/g, '…')
      .slice(0, 160);
    if (this.#reasons.has(kind) || this.#reasons.size < 1_000) {
      this.#reasons.set(kind, (this.#reasons.get(kind) ?? 0) + 1);
    }
    this.#requireWritten();
    this.#out ??= createWriteStream(this.#file, { flags: 'a' }).on('error', (error) => {
      this.#failure = error;
    });
    this.#out.write(`${JSON.stringify({ line, ...(id ? { id } : {}), reason })}\n`);
  }

  summary(): string[] {
    const sorted = [...this.#reasons].sort(([, a], [, b]) => b - a);
    return sorted.slice(0, MAX_PRINTED_REASONS).map(([reason, count]) => `  ${count} × ${reason}`);
  }

  /** @throws {UsageError} if the file could not be written completely */
  async close(): Promise<void> {
    if (!this.#out) return;
    if (!this.#out.closed) {
      const closed = new Promise<void>((resolve) => this.#out?.once('close', resolve));
      this.#out.end();
      await closed;
    }
    this.#requireWritten();
    if (this.#file === this.#nameAtEnd) return;
    const isFree = await link(this.#file, this.#nameAtEnd).then(
      () => true,
      () => false,
    );
    if (!isFree) return;
    await rm(this.#file, { force: true });
    this.#file = this.#nameAtEnd;
  }

  #requireWritten(): void {
    if (this.#failure === undefined) return;
    throw new UsageError(
      `${this.#file} cannot be written (${this.#failure.message}): choose another file with --rejects.`,
    );
  }
}
