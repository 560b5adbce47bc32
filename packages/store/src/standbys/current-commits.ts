import { within } from '@akin/runtime';
import type { Engine } from '../engine/engine.ts';

/** SQL, of a row of `akin.collections`: what all that shows the same commit, by the same fields and name, agrees on. */
export const MARK = `concat_ws(' ', commit, committed_at, schema_version, name)`;

/** What the primary has not said after this time it does not say. */
export const ANSWER_MILLISECONDS = 5_000;

/** A question to the primary that is not sent yet. */
interface Question {
  readonly ids: Set<number>;
  readonly answer: Promise<ReadonlyMap<number, string>>;
}

/**
 * Asks the primary which commits are the current ones. Those who ask while a question is under way share the next one,
 * which is sent later than they ask: however many search, the primary has one such question at a time of each process.
 */
export class CurrentCommits {
  readonly #primary: Engine;
  #next: Question | undefined;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(primary: Engine) {
    this.#primary = primary;
  }

  /**
   * The mark of a collection, as of a moment after the call; undefined where it does not exist.
   * @throws what the primary throws
   */
  async ask(collectionId: number): Promise<string | undefined> {
    this.#next ??= this.#question();
    this.#next.ids.add(collectionId);
    return (await this.#next.answer).get(collectionId);
  }

  #question(): Question {
    const ids = new Set<number>();
    const answer = this.#underWay.then(() => {
      this.#next = undefined;
      // A connection that hangs must not keep those who ask later.
      return within(ANSWER_MILLISECONDS, this.#read([...ids]));
    });
    this.#underWay = answer.catch(() => undefined);
    return { ids, answer };
  }

  async #read(ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const rows = await this.#primary.query<{ id: number; mark: string }>(
      `select id, ${MARK} as mark from akin.collections where id = any($1::int4[])`,
      [ids],
    );
    return new Map(rows.map(({ id, mark }) => [id, mark]));
  }
}
