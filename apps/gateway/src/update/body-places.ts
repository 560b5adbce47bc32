import { AkinError, type ErrorDetail } from '@akin/domain';

const MAX_GAPS = 100_000;

/**
 * Where the changes that were staged stood in their body, for errors that are found after the body was read. Only gaps
 * are stored, so a body without blank lines from which nothing is left out needs no memory.
 */
export class BodyPlaces {
  readonly #positions: Gaps;
  /** Lines count from 1. Empty for a body that is not NDJSON. */
  readonly #lines: Gaps;

  constructor(limit: number = MAX_GAPS) {
    this.#positions = new Gaps(limit);
    this.#lines = new Gaps(limit);
  }

  /** Call this for each staged change in order. @param index counts the staged changes from 0 */
  note(index: number, { position, line }: { readonly position: number; readonly line?: number }): void {
    this.#positions.note(index, position);
    if (line !== undefined) this.#lines.note(index, line);
  }

  /** A detail whose position counts staged changes, with the position in the body, and its line if it is known. */
  inBody<D extends ErrorDetail>(detail: D): D {
    const { position: index, ...rest } = detail;
    if (index === undefined) return detail;
    const position = this.#positions.of(index);
    const line = this.#lines.of(index);
    const msg =
      position === index
        ? detail.msg
        : detail.msg.replace(PLACE, (_, subject) =>
            position === undefined ? subject : `${subject} at position ${position}`,
          );
    return {
      ...(rest as D),
      ...(position === undefined ? {} : { position }),
      msg: line === undefined ? msg : `Line ${line}: ${msg}`,
    };
  }

  /** Runs a function that may refuse staged changes by position, and corrects the places in the error. */
  async correctError<T>(run: () => Promise<T> | undefined): Promise<T | undefined> {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof AkinError)) throw error;
      const details = error.details.map((detail) => this.inBody(detail));
      const [before = '', after = ''] = [error.details[0]?.msg, details[0]?.msg];
      const { code, cause, retryAfterSeconds } = error;
      throw new AkinError(code, before === '' ? error.message : error.message.replace(before, () => after), {
        details,
        cause,
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      });
    }
  }
}

/** The beginning of the message of a detail: its subject, with the id, and the position. */
const PLACE = /^(\w+ "(?:[^"\\]|\\.)*") at position \d+/;

/** Numbers that grow with an index, mostly one by one. */
class Gaps {
  readonly #limit: number;
  /** From `index` to the next gap, the number is the index plus `ahead`. In ascending order. */
  readonly #gaps: { readonly index: number; readonly ahead: number }[] = [];
  /** From this index on the number is unknown: there were too many gaps. */
  #unknownFrom = Number.POSITIVE_INFINITY;

  constructor(limit: number) {
    this.#limit = limit;
  }

  note(index: number, number: number): void {
    const ahead = number - index;
    if (ahead === this.#gaps.at(-1)?.ahead || index >= this.#unknownFrom) return;
    if (this.#gaps.length === this.#limit) this.#unknownFrom = index;
    else this.#gaps.push({ index, ahead });
  }

  of(index: number): number | undefined {
    if (index >= this.#unknownFrom) return undefined;
    // A binary search: thousands of pictures may fail in a body with thousands of gaps.
    let [low, high] = [0, this.#gaps.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#gaps[middle]?.index ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    const gap = this.#gaps[low - 1];
    return gap === undefined ? undefined : index + gap.ahead;
  }
}
