import { type QueryScanner, queryError } from './query-scanner.ts';

/** UTF-16 units of a query: lists of ten thousand ids come in practice, by POST. */
export const MAX_QUERY_LENGTH = 1_048_576;
/** Values, phrases, ranges … of one query, counted through all its groups. */
const MAX_QUERY_CLAUSES = 20_000;
/**
 * Groups, and local parameters, inside each other. Groups of many clauses become sums inside of sums, and the embedded
 * database ran out of stack at 190.
 */
const MAX_QUERY_DEPTH = 100;

/** Counts what a query may have, through all its groups, so that a huge one is refused and never overflows. */
export class QueryBudget {
  #clauses = 0;
  #depth = 0;
  #referred = 0;

  countClause(scanner: QueryScanner, position: number): void {
    if (++this.#clauses > MAX_QUERY_CLAUSES) {
      throw scanner.error(position, `the query has more than ${MAX_QUERY_CLAUSES} clauses`);
    }
  }

  /** Counts text that comes from other parameters (`$name`), so that a few short ones cannot make up a huge query. */
  countReferred(length: number): void {
    this.#referred += length;
    if (this.#referred > MAX_QUERY_LENGTH) {
      throw queryError('', 0, `its $parameters bring more than ${MAX_QUERY_LENGTH} characters`);
    }
  }

  /** Runs `read` one level deeper. */
  inside<T>(scanner: QueryScanner, position: number, read: () => T): T {
    if (++this.#depth > MAX_QUERY_DEPTH) {
      throw scanner.error(position, `more than ${MAX_QUERY_DEPTH} groups stand inside each other`);
    }
    const result = read();
    this.#depth--;
    return result;
  }
}
