import { createHash } from 'node:crypto';
import path from 'node:path';
import { MAX_ID_BYTES } from '@akin/domain';

export class NewIds {
  readonly #taken: Set<string>;

  /** @param taken the ids of all documents, and of those that were deleted on purpose */
  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /**
   * The path below the source, in composed Unicode as people type it. If that is taken by another file, it gets the name
   * of the source in front, then also a number. A path that is too long is cut, and ends with a hash of it.
   *
   * @param below with `/` on every system
   */
  next(source: string, below: string): string {
    const wanted = below.normalize('NFC');
    const named = `${path.basename(source).normalize('NFC') || 'root'}/${wanted}`;
    for (let number = 0; ; number++) {
      const id = shortened(number === 0 ? wanted : number === 1 ? named : `${number}/${named}`);
      if (this.#taken.has(id)) continue;
      this.#taken.add(id);
      return id;
    }
  }
}

const HASH_CHARACTERS = 16;

function shortened(id: string): string {
  const bytes = Buffer.from(id);
  if (bytes.length <= MAX_ID_BYTES) return id;
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_CHARACTERS);
  // A character that was cut decodes to replacement characters.
  const kept = bytes
    .subarray(0, MAX_ID_BYTES - HASH_CHARACTERS - 1)
    .toString()
    .replace(/\ufffd+$/u, '');
  return `${kept}~${hash}`;
}
