import { describe, expect, it } from '@jest/globals';
import { firstKeyCommand } from './first-key-command.ts';
import { parseOptions } from './options.ts';

const OPTIONS = [
  { name: 'data', valueName: 'folder', description: '' },
  { name: 'database-url', valueName: 'url', description: '', otherVariables: ['DATABASE_URL'] },
];
const command = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  firstKeyCommand(parseOptions({ name: 'serve', usage: '', description: '', options: OPTIONS }, args, env)).replace(
    /^node \S+akin\.mjs /,
    '',
  );

describe('the command for the first key', () => {
  it.each([
    [['--data', '/data'], {}, 'keys create --scope admin --data /data'],
    [['--data', "/a'b c"], {}, "keys create --scope admin --data '/a'\\''b c'"],
    [[], { DATABASE_URL: 'postgres://a:secret@b/c' }, 'keys create --scope admin'],
    [['--database-url', 'postgres://b:1/c'], {}, 'keys create --scope admin --database-url postgres://b:1/c'],
    [
      ['--database-url', 'postgres://a:secret@b/c'],
      {},
      'keys create --scope admin --database-url postgres://a:PASSWORD@b/c',
    ],
  ])('of %j in the environment %j is %s', (args, env, expected) => {
    expect(command(args, env)).toBe(expected);
  });
});
