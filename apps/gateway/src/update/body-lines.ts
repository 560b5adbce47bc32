import { AkinError, type ErrorDetail } from '@akin/domain';

/** Blank lines between documents that are remembered. */
const MOST_GAPS = 100_000;

/**
 * The lines on which the documents of an NDJSON body stand, for errors that come after the body was read. Kept are the
 * places where a line is not the one after the line before, so a body without blank lines takes no memory.
 */
export class BodyLines {
  readonly #limit: number;
  /** From each position on, how far the line is ahead of it; ascending. */
  readonly #gaps: { readonly position: number; readonly ahead: number }[] = [];
  /** From this position on it is unknown: there were too many gaps. */
  #unknownFrom = Number.POSITIVE_INFINITY;

  constructor(limit: number = MOST_GAPS) {
    this.#limit = limit;
  }

  /** To be called for each document in order. @param line counted from 1 */
  note(position: number, line: number): void {
    const ahead = line - position;
    if (ahead === this.#gaps.at(-1)?.ahead || position >= this.#unknownFrom) return;
    if (this.#gaps.length === this.#limit) this.#unknownFrom = position;
    else this.#gaps.push({ position, ahead });
  }

  /** Undefined for a body that is not of lines, and behind very many gaps. */
  lineOf(position: number): number | undefined {
    if (position >= this.#unknownFrom) return undefined;
    const gap = this.#gaps.findLast((one) => one.position <= position);
    return gap === undefined ? undefined : position + gap.ahead;
  }

  /** A detail that names the line, where there is one. */
  name<D extends ErrorDetail>(detail: D): D {
    const line = detail.position === undefined ? undefined : this.lineOf(detail.position);
    return line === undefined ? detail : { ...detail, msg: `Line ${line}: ${detail.msg}` };
  }

  /** Runs what may refuse documents by position, and names their lines in the error. */
  async naming<T>(run: () => Promise<T> | undefined): Promise<T | undefined> {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof AkinError)) throw error;
      const details = error.details.map((detail) => this.name(detail));
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
