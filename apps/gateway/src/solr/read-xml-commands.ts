import { TextDecoder } from 'node:util';
import { AkinError } from '@akin/domain';
import { createYielder } from '@akin/runtime';
import type { Command } from '../update/read-commands.ts';
import { XmlCommands } from './xml-commands.ts';

/** Number of characters that are parsed at a time. Other requests run in between. */
const SLICE = 8 * 1024;

/**
 * The commands of an XML body as its bytes arrive, in bounded memory: `<add>`, `<delete>`, `<commit/>`, `<optimize/>`,
 * or several of them inside `<update>`.
 *
 * @throws AkinError bad-request that names line and column, also for a document type, whose entities are never read;
 * too-large; unsupported-media-type for an encoding that is not UTF-8
 */
export async function* readXmlCommands(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Command> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const commands = new XmlCommands();
  const yieldIfDue = createYielder();
  for await (const chunk of chunks) {
    const text = decode(decoder, chunk);
    for (let at = 0; at < text.length; at += SLICE) {
      yield* commands.write(text.slice(at, at + SLICE));
      await yieldIfDue();
    }
  }
  yield* commands.write(decode(decoder));
  yield* commands.end();
}

function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch (cause) {
    throw new AkinError('bad-request', 'The XML body is not UTF-8: send it in UTF-8.', { cause });
  }
}
