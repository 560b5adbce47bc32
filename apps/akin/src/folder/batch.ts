import { AkinRequestError, type Collection, type NewDocument } from '@akin/client';

/** Documents that are sent together: enough to spare round trips, few enough to lose little when stopped. */
const BATCH_DOCUMENTS = 40;
const BATCH_MILLISECONDS = 2_000;
const MOST_ATTEMPTS = 10;

/** Collects documents and sends them in groups, one group after the other; `add` waits while its group is on its way. */
export class Batch {
  readonly #collection: Collection;
  readonly #onRefused: (id: string, reason: string) => void;
  #documents: NewDocument[] = [];
  #since = performance.now();
  #sending: Promise<unknown> = Promise.resolve();

  /** @param onRefused Called for a document that akin does not take; the others of its group are stored all the same. */
  constructor(collection: Collection, onRefused: (id: string, reason: string) => void) {
    this.#collection = collection;
    this.#onRefused = onRefused;
  }

  /** @throws {AkinRequestError} when akin does not answer or refuses everything */
  async add(document: NewDocument): Promise<void> {
    this.#documents.push(document);
    const due = performance.now() - this.#since > BATCH_MILLISECONDS;
    if (this.#documents.length >= BATCH_DOCUMENTS || due) await this.flush();
  }

  async flush(): Promise<void> {
    const documents = this.#documents;
    this.#documents = [];
    this.#since = performance.now();
    this.#sending = this.#sending.then(() => this.#send(documents));
    await this.#sending;
  }

  /** Sends again what a busy akin asked to send later (the same ids make that harmless), and without what it refused. */
  async #send(group: readonly NewDocument[]): Promise<void> {
    let documents = group;
    for (let attempt = 1; documents.length > 0; attempt++) {
      try {
        await this.#collection.add(documents, { commitWithin: BATCH_MILLISECONDS });
        return;
      } catch (error) {
        if (!(error instanceof AkinRequestError) || attempt === MOST_ATTEMPTS) throw error;
        if ([429, 503].includes(error.status)) {
          await new Promise((resolve) => setTimeout(resolve, (error.retryAfterSeconds ?? 1) * 1000));
          continue;
        }
        const refused = refusedDocuments(error);
        if (refused.size === 0) throw error;
        for (const [position, reason] of refused) this.#onRefused(documents[position]?.id ?? '', reason);
        documents = documents.filter((_, position) => !refused.has(position));
      }
    }
  }
}

/** The documents that a refusal names, by their position in the request, each with its first reason. */
function refusedDocuments(error: AkinRequestError): Map<number, string> {
  const refused = new Map<number, string>();
  if (error.status !== 400) return refused;
  for (const detail of error.details as { position?: number; msg?: string }[]) {
    if (detail.position !== undefined && !refused.has(detail.position)) {
      // The file stands before the reason already; where its document stood among those sent helps nobody.
      refused.set(detail.position, (detail.msg ?? error.message).replace(/^Document .*?at position \d+: /s, ''));
    }
  }
  return refused;
}
