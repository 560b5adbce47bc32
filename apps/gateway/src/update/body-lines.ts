import { AkinError, type ErrorDetail } from '@akin/domain';

/** Maximum number of stored gaps. A gap is one or more blank lines between two documents. */
const MAX_GAPS = 100_000;

/**
 * The line of each document of an NDJSON body, for errors that are found after the body was read. Only gaps are stored,
 * so a body without blank lines needs no memory.
 */
export class BodyLines {
  readonly #limit: number;
  /** From `position` to the next gap, the line of a document is its position plus `ahead`. In ascending order. */
  readonly #gaps: { readonly position: number; readonly ahead: number }[] = [];
  /** From this position on the line is unknown: there were too many gaps. */
  #unknownFrom = Number.POSITIVE_INFINITY;

  constructor(limit: number = MAX_GAPS) {
    this.#limit = limit;
  }

  /** Call this for each document in order. @param line counted from 1 */
  note(position: number, line: number): void {
    const ahead = line - position;
    if (ahead === this.#gaps.at(-1)?.ahead || position >= this.#unknownFrom) return;
    if (this.#gaps.length === this.#limit) this.#unknownFrom = position;
    else this.#gaps.push({ position, ahead });
  }

  /** Undefined for a body that is not NDJSON, and after too many gaps. */
  lineOf(position: number): number | undefined {
    if (position >= this.#unknownFrom) return undefined;
    const gap = this.#gaps.findLast((one) => one.position <= position);
    return gap === undefined ? undefined : position + gap.ahead;
  }

  /** The detail, with its line in the message if the line is known. */
  withLine<D extends ErrorDetail>(detail: D): D {
    const line = detail.position === undefined ? undefined : this.lineOf(detail.position);
    return line === undefined ? detail : { ...detail, msg: `Line ${line}: ${detail.msg}` };
  }

  /** Runs a function that may refuse documents by position, and adds their lines to the error. */
  async withLineNumbers<T>(run: () => Promise<T> | undefined): Promise<T | undefined> {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof AkinError)) throw error;
      const details = error.details.map((detail) => this.withLine(detail));
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
