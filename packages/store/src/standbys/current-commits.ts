import { withTimeout } from '@akin/runtime';
import type { Engine } from '../engine/engine.ts';

/** SQL over a row of `akin.collections`: two servers give equal texts if commit, fields and name are equal. */
export const FINGERPRINT = `concat_ws(' ', commit, committed_at, schema_version, name)`;

/** After this time without a reply, the primary counts as failed. */
export const PRIMARY_TIMEOUT_MILLISECONDS = 5_000;

/** A question to the primary that is not sent yet. */
interface Question {
  readonly ids: Set<number>;
  readonly fingerprints: Promise<ReadonlyMap<number, string>>;
}

/**
 * Asks the primary for the current commits. Callers during a question share the next one, which is sent after their
 * call: however many searches there are, each process has one such question to the primary at a time.
 */
export class CurrentCommits {
  readonly #primary: Engine;
  #next: Question | undefined;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(primary: Engine) {
    this.#primary = primary;
  }

  /**
   * The fingerprint of a collection, as of a moment after the call. Undefined if it does not exist. @throws errors of
   * the primary
   */
  async ask(collectionId: number): Promise<string | undefined> {
    this.#next ??= this.#question();
    this.#next.ids.add(collectionId);
    return (await this.#next.fingerprints).get(collectionId);
  }

  #question(): Question {
    const ids = new Set<number>();
    const fingerprints = this.#underWay.then(() => {
      this.#next = undefined;
      // A connection that hangs must not block later callers.
      return withTimeout(PRIMARY_TIMEOUT_MILLISECONDS, this.#read([...ids]));
    });
    this.#underWay = fingerprints.catch(() => undefined);
    return { ids, fingerprints };
  }

  async #read(ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const rows = await this.#primary.query<{ id: number; fingerprint: string }>(
      `select id, ${FINGERPRINT} as fingerprint from akin.collections where id = any($1::int4[])`,
      [ids],
    );
    return new Map(rows.map(({ id, fingerprint }) => [id, fingerprint]));
  }
}
