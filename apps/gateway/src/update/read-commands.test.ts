import { expect, it } from '@jest/globals';
import { readCommands } from './read-commands.ts';

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
