import { AkinError, badRequest, stringifyJson } from '@akin/domain';
import { findOperation, lastOperation, listOperations, type Operation, retryFailed } from '@akin/store/changes';
import { type Collection, findCollection } from '@akin/store/database';
import type { HandlerFor } from '../http/serve.ts';

export const operations: HandlerFor<'operations'> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  const { state, limit, cursor } = parameters;
  const page = await listOperations(store, collection, {
    limit,
    ...(state === undefined ? {} : { state }),
    ...(cursor === undefined ? {} : { after: readCursor(cursor) }),
  });
  const list = page.operations.map((operation) => presentOperation(collection, operation));
  return { body: { operations: list, nextCursor: page.next?.toString() } };
};

function readCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw badRequest('Parameter cursor must be the nextCursor of an earlier response.');
}

export const retryOperations: HandlerFor<'retryOperations'> = async ({ parameters }, { store, wake }) => {
  const collection = await findCollection(store, parameters.collection);
  const { reason } = parameters;
  const retried = await retryFailed(store, collection, reason === undefined ? {} : { code: reason });
  wake();
  return { body: { ...retried } };
};

const HEARTBEAT_MILLISECONDS = 15_000;
/** Clients reconnect after this time. */
const RETRY_MILLISECONDS = 2_000;

/** Sends finished changes in accepted order, each when all earlier ones are finished, until the client disconnects. */
export const operationsStream: HandlerFor<'operationsStream'> = async (
  { parameters, header, signal },
  { store, feeds },
) => {
  const collection = await findCollection(store, parameters.collection);
  const from = parameters.cursor ?? header('last-event-id');
  let cursor = from === undefined || from === '' ? await lastOperation(store, collection) : readEventId(from);
  feeds.requireCapacity();
  const ended = AbortSignal.any([signal, feeds.stopping]);

  async function* events(): AsyncGenerator<string> {
    const { feed, close } = feeds.open(collection.name);
    let status = '';
    let beat = performance.now();
    try {
      yield `retry: ${RETRY_MILLISECONDS}\n\n`;
      while (!ended.aborted) {
        // Changes that arrive during this read come after it.
        const { pollNumber } = feed;
        if (feed.status !== status) {
          status = feed.status;
          yield `event: status\ndata: ${status}\n\n`;
          beat = performance.now();
        }
        const settled = await feed.terminal(cursor);
        if (settled.length > 0) {
          cursor = settled.at(-1)?.seq ?? cursor;
          yield settled
            .map((one) => {
              const data = stringifyJson(presentOperation(collection, one));
              return `event: operation\nid: ${one.seq}\ndata: ${data}\n\n`;
            })
            .join('');
          beat = performance.now();
          continue;
        }
        await feed.next(pollNumber, ended);
        if (performance.now() - beat > HEARTBEAT_MILLISECONDS) {
          yield ':\n\n';
          beat = performance.now();
        }
      }
    } catch (error) {
      // Nobody reads the rest of a stream that ends, and akin may have closed its store already.
      if (!ended.aborted) throw error;
    } finally {
      close();
    }
  }
  return {
    type: 'text/event-stream',
    chunks: events,
    headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  };
};

function readEventId(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw badRequest('Parameter cursor, or Last-Event-ID, must be the id of an event of this stream.');
}

export const operation: HandlerFor<'operation'> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  const seq = seqOf(parameters.operation, collection.name);
  return { body: presentOperation(collection, await findOperation(store, collection, seq)) };
};

export const retryOperation: HandlerFor<'retryOperation'> = async ({ parameters }, { store, wake }) => {
  const collection = await findCollection(store, parameters.collection);
  const seq = seqOf(parameters.operation, collection.name);
  const { retried, superseded, conflicting } = await retryFailed(store, collection, { seq });
  const operation = await findOperation(store, collection, seq);
  if (retried + superseded === 0) {
    const msg =
      conflicting > 0
        ? 'A later atomic update has already changed this document: send the whole document again.'
        : `Only failed operations can be retried. This one is ${operation.state}.`;
    throw new AkinError('conflict', msg);
  }
  wake();
  return { body: presentOperation(collection, operation) };
};

function presentOperation(collection: Collection, operation: Operation): Record<string, unknown> {
  const { seq, kind, id, state, attempt, position, acceptedAt, error } = operation;
  return {
    operation: `${collection.name}-${seq}`,
    kind,
    id: id ?? undefined,
    state,
    position,
    attempt,
    acceptedAt,
    reason: error,
  };
}

/** @throws AkinError not-found */
function seqOf(operation: string, collection: string): number {
  const seq = operation.startsWith(`${collection}-`) ? operation.slice(collection.length + 1) : '';
  if (/^[1-9]\d{0,14}$/.test(seq)) return Number(seq);
  throw new AkinError(
    'not-found',
    `${collection} has no such operation. Names of operations look like ${collection}-17.`,
  );
}
