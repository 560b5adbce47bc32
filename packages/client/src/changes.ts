import { AkinRequestError } from './errors.ts';
import { parseResponse } from './json.ts';
import { type ClientConfig, openStream, wait } from './request.ts';
import type { CollectionSummary, Operation } from './types.ts';

/** An event that a collection sends to its listeners. */
export type CollectionEvent =
  /** A change and all earlier ones are finished. To miss nothing, reconnect with its `id`. */
  | { readonly kind: 'operation'; readonly id: string; readonly operation: Operation }
  /** The state of the collection has changed. */
  | { readonly kind: 'status'; readonly status: CollectionSummary };

const RECONNECT_MILLISECONDS = 2_000;

/**
 * Yields the events of a collection. After a broken connection it reconnects and continues after the last event, until
 * the signal aborts.
 *
 * @throws AkinRequestError when akin rejects the request, for example because the collection does not exist
 */
export async function* listen(
  config: ClientConfig,
  path: string,
  from: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<CollectionEvent> {
  let cursor = from;
  for (;;) {
    try {
      const address = cursor === undefined ? path : `${path}?cursor=${encodeURIComponent(cursor)}`;
      for await (const { event, id, data } of readEvents(await openStream(config, address, signal))) {
        if (event === 'status') {
          yield { kind: 'status', status: parseResponse(data) as unknown as CollectionSummary };
        } else if (event === 'operation' && id !== undefined) {
          cursor = id;
          yield { kind: 'operation', id, operation: parseResponse(data) as unknown as Operation };
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof AkinRequestError && error.status >= 400 && error.status < 500 && error.status !== 429) {
        throw error;
      }
    }
    await wait(RECONNECT_MILLISECONDS, signal).catch(() => {});
    if (signal.aborted) return;
  }
}

/** Parses Server-Sent Events of the HTML standard, limited to the form that akin sends: lines end with \n. */
async function* readEvents(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<{ event: string; id: string | undefined; data: string }> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const fields = new Map<string, string>();
        for (const line of text.slice(0, end).split('\n')) {
          const colon = line.indexOf(':');
          if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trimStart());
        }
        text = text.slice(end + 2);
        const data = fields.get('data');
        if (data !== undefined) yield { event: fields.get('event') ?? 'message', id: fields.get('id'), data };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
