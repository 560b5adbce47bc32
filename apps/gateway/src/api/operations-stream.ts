import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError, stringifyJson } from '@akin/domain';
import { findCollection, lastOperation } from '@akin/store';
import type { Handler } from '../http/serve.ts';
import { presentOperation } from '../operations/present.ts';

const HEARTBEAT_MILLISECONDS = 15_000;
/** Clients reconnect after this time. */
const RETRY_MILLISECONDS = 2_000;

/** Sends finished changes in accepted order, each when all earlier ones are finished, until the client disconnects. */
export const operationsStream: Handler<ParametersOf<Endpoints['operationsStream']>> = async (
  { parameters, header, signal },
  { store, feeds },
) => {
  const collection = await findCollection(store, parameters.collection);
  const from = parameters.cursor ?? header('last-event-id');
  let cursor = from === undefined || from === '' ? await lastOperation(store, collection) : readCursor(from);
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
    events: events(),
    headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  };
};

function readCursor(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new AkinError('bad-request', 'Parameter cursor, or Last-Event-ID, must be the id of an event of this stream.');
}
