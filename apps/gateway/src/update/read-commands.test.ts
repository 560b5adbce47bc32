import { describe, expect, it } from '@jest/globals';
import { commandRefusal } from '../../test/command-refusal.ts';
import { type Command, readCommands } from './read-commands.ts';

async function read(body: string | Uint8Array, form: 'documents' | 'commands' = 'commands'): Promise<Command[]> {
  async function* chunks() {
    yield Buffer.from(body);
  }
  const commands: Command[] = [];
  for await (const command of readCommands(chunks(), form, { ignoresEmptyObject: true })) commands.push(command);
  return commands;
}

const refusal = (body: string | Uint8Array, form?: 'documents' | 'commands') => commandRefusal(read(body, form));

const deleted = (position: number, id: string) => ({ kind: 'delete', position, id });

describe('below /api/cores', () => {
  it.each<[string, object[]]>([
    ['{"delete":["1",2]}', [deleted(0, '1'), deleted(1, '2')]],
    ['{"delete":"3"}', [deleted(0, '3')]],
    ['{"delete":{"id":"4"}}', [deleted(0, '4')]],
    ['{"delete":{"query":"n:5"}}', [{ kind: 'delete-by-query', position: 0, query: 'n:5' }]],
    ['{"delete":{"id":"6"},"delete":"none"}', [deleted(0, '6'), deleted(1, 'none')]],
    ['{"id":"1","delete":"never"}', [{ kind: 'add', position: 0, json: expect.anything() }]],
  ])('%s is read', async (body, commands) => {
    expect(await read(body, 'documents')).toEqual(commands);
  });

  it.each([
    ['{"commit":{}}', '/solr/{collection}/update'],
    ['{"delete":[{"id":"1","_VERSION_":999}]}', 'delete at position 0 has the key "_VERSION_"'],
    ['[{"id":"1"}', ''],
    ['[{"id":"1"},]', ''],
    ['[{"id":"1"}] x', ''],
    ['{"id":"1"', ''],
    ['"text"', ''],
    ['7', ''],
    ['[{"id":"1","n":9223372036854775808}]', ''],
    [`${'['.repeat(100)}${']'.repeat(100)}`, ''],
  ])('%s is refused', async (body, message) => {
    expect(await refusal(body, 'documents')).toMatch(/^bad-request: /);
    expect(await refusal(body, 'documents')).toContain(message);
  });

  it('bytes that are not UTF-8 are refused', async () => {
    const bytes = Buffer.from([0x5b, 0x7b, 0x22, 0xff, 0x22, 0x7d, 0x5d]);
    expect(await refusal(bytes, 'documents')).toMatch(/^bad-request: /);
  });
});

describe('commands', () => {
  it.each([
    [{ id: '1' }, '"id" is not a command'],
    [{ rollback: {} }, 'rollback is not possible'],
    [{ add: { id: '1' } }, 'needs a document'],
    [{ add: { doc: { id: '1' }, overwrite: false } }, 'overwrite=false'],
    [{ add: { doc: { id: '1' }, overwrite: 'False' } }, 'overwrite=false'],
    [{ add: { doc: { id: '1' }, overwrite: 0 } }, 'overwrite=false'],
    [{ add: { doc: { id: '1' }, overwrite: {} } }, 'overwrite must be true or false'],
    [{ add: { doc: { id: '1' }, commitWithin: 'soon' } }, 'commitWithin'],
    [{ add: { doc: { id: '1', n: 2 }, _version_: 999 } }, 'add at position 0 has the key "_version_"'],
    [{ delete: { id: '1', version: 999 } }, 'delete at position 0 has the key "version"'],
    [{ delete: {} }, 'needs ids or a query'],
    [{ delete: [''] }, 'needs ids or a query'],
    [{ delete: [null] }, 'needs ids or a query'],
    [{ delete: { query: '' } }, 'needs ids or a query'],
    [{ commit: 'now' }, 'commit must be an object'],
    [{ commit: { openSearcher: 'maybe' } }, 'openSearcher must be true or false'],
    [{ optimize: { waitSearcher: [true] } }, 'waitSearcher must be true or false'],
  ])('%j are refused', async (body, message) => {
    expect(await refusal(JSON.stringify(body))).toContain(`bad-request: `);
    expect(await refusal(JSON.stringify(body))).toContain(message);
  });

  it('that are wrong by themselves leave the others as they are', async () => {
    const commands = await read(
      '{"delete":["","a",7,true],"delete":{"id":["b",null],"_version_":5},"delete":{"query":" "},"delete":{},' +
        '"delete":{"id":"c","_vesion_":5},"add":{},"add":{"doc":{},"boots":1},"delete":{"query":"n:1"}}',
    );
    expect(commands.map((one) => (one.kind === 'invalid' ? `${one.position} ${one.change}` : one))).toEqual([
      '0 delete',
      deleted(1, 'a'),
      deleted(2, '7'),
      '3 delete',
      { ...deleted(4, 'b'), version: expect.anything() },
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
  ])('to commit have booleans in the spellings of parameters: %j', async (options) => {
    expect(await read(JSON.stringify({ commit: options, optimize: { openSearcher: null } }))).toEqual([
      { kind: 'commit', openSearcher: false, waitSearcher: true },
      { kind: 'commit' },
    ]);
  });
});
