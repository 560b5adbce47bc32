import type { Collection } from '@akin/client';
import { ConcurrencyLimiter } from '../bulk/concurrency-limiter.ts';
import { type SendOptions, sendBatch } from '../bulk/send-batch.ts';
import type { FileDocument } from './file-document.ts';

/** Number of documents per request: enough to save round trips, few enough to lose little when stopped. */
const BATCH_DOCUMENTS = 40;
const BATCH_MILLISECONDS = 2_000;
/** A restarted akin answers within this time. */
const RETRY_MILLISECONDS = 60_000;

interface FolderDocument {
  readonly id: string;
  readonly bytes: Buffer;
}

/** Collects documents and sends them in batches, one after the other. `add` waits while a batch is being sent. */
export class Batch {
  /** The ids of the documents that akin refused. */
  readonly refused = new Set<string>();
  readonly #sending: SendOptions<FolderDocument>;
  #documents: FolderDocument[] = [];
  #since = performance.now();

  /** @param onRefused called for each document that akin refuses; the others of its batch are stored */
  constructor(collection: Collection, onRefused: (id: string, reason: string) => void) {
    this.#sending = {
      collection,
      limiter: new ConcurrencyLimiter(1),
      compress: false,
      parameters: { commitWithin: BATCH_MILLISECONDS },
      maxOutageMilliseconds: RETRY_MILLISECONDS,
      // Analyzed documents are sent even if the run is stopped.
      signal: new AbortController().signal,
      accepted: () => {},
      refused: ({ id }, reason) => {
        this.refused.add(id);
        // The document of an update was deleted meanwhile.
        if (!/^version conflict/.test(reason)) onRefused(id, reason);
      },
    };
  }

  /** @throws {AkinRequestError} if akin does not answer for a minute, or refuses everything */
  async add(document: FileDocument): Promise<void> {
    this.#documents.push({ id: document.id, bytes: Buffer.from(JSON.stringify(document)) });
    const due = performance.now() - this.#since > BATCH_MILLISECONDS;
    if (this.#documents.length >= BATCH_DOCUMENTS || due) await this.flush();
  }

  async flush(): Promise<void> {
    const documents = this.#documents;
    this.#documents = [];
    this.#since = performance.now();
    await sendBatch(documents, this.#sending);
  }
}
