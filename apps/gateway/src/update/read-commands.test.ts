import { expect, it } from '@jest/globals';
import { readCommands } from './read-commands.ts';

it('commands that are wrong by themselves leave the others as they are', async () => {
  async function* body() {
    yield Buffer.from(
      '{"delete":["","a",7,true],"delete":{"id":["b",null],"_version_":5},"delete":{"query":" "},"delete":{},' +
        '"delete":{"id":"c","_vesion_":5},"add":{},"add":{"doc":{},"boots":1},"delete":{"query":"n:1"}}',
    );
  }
  const read: unknown[] = [];
  for await (const command of readCommands(body(), 'commands', { ignoresEmptyObject: true })) {
    read.push(command.kind === 'invalid' ? `${command.position} ${command.change}` : command);
  }
  expect(read).toEqual([
    '0 delete',
    { kind: 'delete', position: 1, id: 'a' },
    { kind: 'delete', position: 2, id: '7' },
    '3 delete',
    { kind: 'delete', position: 4, id: 'b', version: expect.anything() },
    '5 delete',
    '6 delete-by-query',
    '7 delete',
    '8 delete',
    '9 add',
    '10 add',
    { kind: 'delete-by-query', position: 11, query: 'n:1' },
  ]);
});

it.each([
  [{ openSearcher: false, waitSearcher: true }],
  [{ openSearcher: 'false', waitSearcher: 'true' }],
  [{ openSearcher: 'False', waitSearcher: 'on' }],
  [{ openSearcher: 0, waitSearcher: 1 }],
])('a commit has booleans in the spellings of parameters: %j', async (options) => {
  async function* body() {
    yield Buffer.from(JSON.stringify({ commit: options, optimize: { openSearcher: null } }));
  }
  const commands: unknown[] = [];
  for await (const command of readCommands(body(), 'commands', { ignoresEmptyObject: true })) commands.push(command);
  expect(commands).toEqual([
    { kind: 'commit', openSearcher: false, waitSearcher: true },
    { kind: 'commit', optimize: true },
  ]);
});
