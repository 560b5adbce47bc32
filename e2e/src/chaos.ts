import type { Collection } from '@akin/client';
import { pauseClient } from '@akin/testing';

/**
 * What must be visible of the documents of one client: the number of the last change of each, unless it was a delete.
 */
export type Model = Map<string, number>;

/** Documents of a client that always change together. */
const TOGETHER = 12;
/** Documents of a client that change one at a time. */
const ALONE = 20;

/**
 * A client that changes its own documents, one request after the other, until it is stopped. A request that failed
 * is sent again without a change until it succeeds, so the model knows what must be visible in the end.
 */
export class ChaosClient {
  readonly model: Model = new Map();
  /** Requests that were accepted, and those that had to be sent again. */
  accepted = 0;
  repeated = 0;
  readonly #name: string;
  readonly #collection: Collection;
  readonly #random: () => number;
  readonly #picture: ((name: string) => string) | undefined;

  /** @param picture URL of a picture by its name; without it no document has a picture */
  constructor(name: string, collection: Collection, random: () => number, picture?: (name: string) => string) {
    this.#name = name;
    this.#collection = collection;
    this.#random = random;
    this.#picture = picture;
  }

  async run(stop: AbortSignal): Promise<void> {
    for (let version = 1; !stop.aborted; version++) {
      const dice = this.#random();
      if (dice < 0.25) await this.#changeTogether(version);
      else if (dice < 0.4) await this.#deleteOne();
      else await this.#changeOne(version, dice < 0.8);
      await pauseClient();
    }
  }

  /** No document of a request may be seen without the others. */
  async #changeTogether(version: number): Promise<void> {
    const ids = Array.from({ length: TOGETHER }, (_, i) => `${this.#name}-together-${i}`);
    const documents = ids.map((id) => ({ id, version, together: this.#name }));
    await this.#retryRequest(() => this.#collection.add(documents, this.#random() < 0.3 ? { commit: true } : {}));
    for (const id of ids) this.model.set(id, version);
  }

  async #changeOne(version: number, withPicture: boolean): Promise<void> {
    const id = this.#oneId();
    const image = withPicture && this.#picture ? { image: this.#picture(`${id}-${version}`) } : {};
    await this.#retryRequest(() => this.#collection.add([{ id, version, ...image }], { async: this.#random() < 0.7 }));
    this.model.set(id, version);
  }

  async #deleteOne(): Promise<void> {
    const id = this.#oneId();
    await this.#retryRequest(() => this.#collection.deleteByIds([id]));
    this.model.delete(id);
  }

  #oneId(): string {
    return `${this.#name}-${Math.floor(this.#random() * ALONE)}`;
  }

  async #retryRequest(request: () => Promise<unknown>): Promise<void> {
    await retryRequest(request, () => this.repeated++);
    this.accepted++;
  }
}

/** Sends a request until it succeeds. @param repeats called before each repetition */
export async function retryRequest<Result>(
  request: () => Promise<Result>,
  repeats: () => void = () => {},
): Promise<Result> {
  for (;;) {
    try {
      return await request();
    } catch {
      repeats();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/**
 * Checks repeatedly that documents that change together are seen together, until it is stopped.
 * @returns what was wrong
 */
export async function watchTogether(
  collection: Collection,
  names: readonly string[],
  stop: AbortSignal,
): Promise<string[]> {
  const wrong: string[] = [];
  while (!stop.aborted) {
    for (const name of names) {
      const found = await collection
        .select({ q: `together:${name}`, fl: 'id,version', rows: TOGETHER + 5 })
        .catch(() => undefined);
      // Before the first change the field does not exist.
      const docs = found?.response.docs ?? [];
      const versions = new Set(docs.map((doc) => Number(doc.version)));
      if (docs.length > 0 && (docs.length !== TOGETHER || versions.size !== 1)) {
        wrong.push(`${name}: ${docs.length} documents of versions ${[...versions].join(', ')}`);
      }
    }
    await pauseClient(200);
  }
  return wrong;
}
