import { TextDecoder } from 'node:util';
import { badRequest } from '@akin/domain';
import { createYielder } from '@akin/runtime';
import type { Command } from '../update/read-commands.ts';
import { MAX_CHARACTERS, XmlCommands } from './xml-commands.ts';
import { XmlDocuments, type XmlPart } from './xml-documents.ts';

/** Number of characters that are parsed at a time. Other requests run in between. */
const SLICE = 8 * 1024;

/**
 * The commands of an XML body as its bytes arrive, in bounded memory: `<add>`, `<delete>`, `<commit/>`, `<optimize/>`,
 * or several of them inside `<update>`. A document over the limit is an invalid command, and the others are read.
 *
 * @throws AkinError bad-request that names line and column, also for a document type, whose entities are never read;
 * too-large; unsupported-media-type for an encoding that is not UTF-8
 */
export async function* readXmlCommands(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Command> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const documents = new XmlDocuments(MAX_CHARACTERS);
  const commands = new XmlCommands();
  const yieldIfDue = createYielder();
  async function* parse(parts: Iterable<XmlPart>): AsyncGenerator<Command> {
    for (const part of parts) {
      if ('oversized' in part) yield commands.leaveOut();
      else if ('skippedLines' in part) commands.skipLines(part.skippedLines);
      else {
        for (const text of slices(part.text)) {
          yield* commands.write(text);
          await yieldIfDue();
        }
      }
    }
  }
  for await (const chunk of chunks) {
    for (const text of slices(decode(decoder, chunk))) {
      yield* parse(documents.push(text));
      await yieldIfDue();
    }
  }
  yield* parse(documents.push(decode(decoder)));
  yield* parse(documents.end());
  yield* commands.end();
}

function* slices(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += SLICE) yield text.slice(at, at + SLICE);
}

function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch (cause) {
    throw badRequest('The XML body is not UTF-8: send it in UTF-8.', { cause });
  }
}
