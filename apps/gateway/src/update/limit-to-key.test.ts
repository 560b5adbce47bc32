import { parseJson, parseQuery } from '@akin/domain';
import { expect, it } from '@jest/globals';
import { limitToKey } from './limit-to-key.ts';
import type { Command } from './read-commands.ts';

it('a document that names a file is invalid, also in an atomic update; deletes are limited when they are staged', async () => {
  async function* sent(): AsyncGenerator<Command> {
    yield { kind: 'delete-by-query', position: 2, query: 'n:1' };
    const documents = ['{"source":"/photos"}', '{"path":{"set":"b/1.jpg"}}', '{"path":null}', '{"tenant":"b","n":1}'];
    for (const text of documents) yield { kind: 'add', position: 3, json: parseJson(text) };
  }
  const texts = ['tenant:a'];
  const filter = {
    texts,
    queries: texts.map((text) => parseQuery(text)),
    set: new Map([['tenant', 'a']]),
    clock: { now: new Date(), timeZone: 'UTC' },
  };
  const commands: unknown[] = [];
  for await (const command of limitToKey(sent(), filter)) commands.push(command);
  expect(commands).toMatchObject([
    { kind: 'delete-by-query', position: 2, query: 'n:1' },
    ...[1, 2, 3].map(() => ({ kind: 'invalid', change: 'add', error: { code: 'forbidden' } })),
    { kind: 'add', json: parseJson('{"n":1,"tenant":"a"}') },
  ]);
});
