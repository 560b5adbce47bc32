import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { AkinRequestError, type Collection, type UpdateParameters, type UpdateResponse } from '@akin/client';
import type { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { isTransient } from './retry-transient.ts';

const pack = promisify(gzip);

interface OutgoingDocument {
  readonly id: string;
  readonly bytes: Buffer;
}

export interface SendOptions<Document extends OutgoingDocument> {
  readonly collection: Collection;
  readonly limiter: ConcurrencyLimiter;
  readonly compress: boolean;
  readonly parameters: UpdateParameters;
  /** Sending fails after this time without a response. */
  readonly maxOutageMilliseconds: number;
  readonly signal: AbortSignal;
  /** Documents that akin accepted, as the operations from `first` on. */
  accepted(documents: readonly Document[], first: string, token: string): void;
  refused(document: Document, reason: string): void;
}

/** Requests of a batch that may be answered with status 500: an internal error of akin may be temporary. */
const MAX_INTERNAL_ERRORS = 5;

/**
 * Sends documents until akin has accepted or refused each. A repeated request stores the same documents under the same
 * ids, so a lost response does no harm.
 *
 * @throws AkinRequestError if akin accepts nothing at all, for example without a key, or does not answer for too long
 */
export async function sendBatch<Document extends OutgoingDocument>(
  batch: readonly Document[],
  sending: SendOptions<Document>,
): Promise<void> {
  let documents = batch;
  const { limiter, signal } = sending;
  let since = performance.now();
  let internalErrors = 0;
  while (documents.length > 0) {
    await limiter.begin(signal);
    let error: AkinRequestError;
    try {
      const response = await post(documents, sending);
      limiter.taken();
      const { operations, responseHeader } = response;
      const reasons = new Map(responseHeader.errors?.map(({ position, message }) => [position, reasonOf(message)]));
      const taken = documents.filter((_, position) => !reasons.has(position));
      if (taken.length > 0) sending.accepted(taken, operations?.first ?? '', responseHeader.token ?? '');
      refuse(documents, reasons, sending);
      return;
    } catch (caught) {
      if (!(caught instanceof AkinRequestError)) throw caught;
      error = caught;
    } finally {
      limiter.end();
    }
    if (isTransient(error)) {
      // A server that says when to try again is alive.
      if (error.retryAfterSeconds !== undefined) since = performance.now();
      if (performance.now() - since > sending.maxOutageMilliseconds) throw error;
      limiter.refused(error.retryAfterSeconds);
      continue;
    }
    if (error.status === 500 && ++internalErrors < MAX_INTERNAL_ERRORS) {
      limiter.refused(undefined);
      continue;
    }
    // A conflict names the documents whose versions are not the expected ones.
    const named = error.status === 409 ? namedDocuments(error) : new Map<number, string>();
    if (named.size === 0 && ![400, 413, 415, 422, 500].includes(error.status)) throw error;
    if (named.size > 0) {
      refuse(documents, named, sending);
      documents = documents.filter((_, position) => !named.has(position));
    } else if (documents.length === 1) {
      sending.refused(documents[0] as Document, error.message);
      return;
    } else {
      // One document makes the whole body unreadable: find it by bisection.
      const half = documents.length >> 1;
      await sendBatch(documents.slice(0, half), sending);
      documents = documents.slice(half);
    }
  }
}

async function post<Document extends OutgoingDocument>(
  documents: readonly Document[],
  sending: SendOptions<Document>,
): Promise<UpdateResponse> {
  const parts: Buffer[] = [];
  for (const { bytes } of documents) parts.push(bytes, NEWLINE);
  const body = Buffer.concat(parts);
  const parameters = { ...sending.parameters, maxErrors: -1 };
  return sending.collection.addJson(sending.compress ? await pack(body, { level: 1 }) : body, parameters, {
    lines: true,
    gzip: sending.compress,
    signal: sending.signal,
  });
}

const NEWLINE = Buffer.from('\n');

function refuse<Document extends OutgoingDocument>(
  documents: readonly Document[],
  reasons: ReadonlyMap<number, string>,
  sending: SendOptions<Document>,
): void {
  for (const [position, reason] of reasons) {
    const document = documents[position];
    if (document) sending.refused(document, reason);
  }
}

/** The documents that a refusal names, by their position in the request, each with its first reason. */
function namedDocuments(error: AkinRequestError): Map<number, string> {
  const named = new Map<number, string>();
  for (const detail of error.details as { position?: number; msg?: string }[]) {
    if (typeof detail.position === 'number' && !named.has(detail.position)) {
      named.set(detail.position, reasonOf(detail.msg ?? error.message));
    }
  }
  return named;
}

/** The line or file is given already. The position in the request is of no use to the user. */
function reasonOf(message: string): string {
  return message.replace(/^(Line \d+: )?Document .*?at position \d+: /s, '');
}
