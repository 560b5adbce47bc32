import { quote } from '@akin/domain';
import type { BulkDocument } from './read-document.ts';

/** Number of ids that are remembered, which takes about 100 bytes each. */
const MAX_IDS = 2_000_000;
const MAX_PRINTED = 10;

/** Finds the accepted rows of a table that have the id of an earlier one, and therefore replaced its document. */
export class RepeatedIds {
  readonly #lines = new Map<string, number>();
  readonly #printed: string[] = [];
  #count = 0;

  see({ id, number }: Pick<BulkDocument, 'id' | 'number'>): void {
    const earlier = this.#lines.get(id);
    if (earlier !== undefined) {
      this.#count++;
      if (this.#printed.length < MAX_PRINTED) {
        this.#printed.push(`  line ${number} replaces line ${earlier}: both have the id ${quote(id)}`);
      }
    }
    if (earlier !== undefined || this.#lines.size < MAX_IDS) this.#lines.set(id, number);
  }

  summary(): string[] {
    if (this.#count === 0) return [];
    const rows = this.#count === 1 ? '1 row has' : `${this.#count} rows have`;
    return [`${rows} the id of an earlier row, and replaced its document.`, ...this.#printed];
  }
}
