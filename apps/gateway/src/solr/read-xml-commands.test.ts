import { setFlagsFromString } from 'node:v8';
import { JsonNumber, JsonObject } from '@akin/domain';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { commandRefusal } from '../../test/command-refusal.ts';
import type { Command } from '../update/read-commands.ts';
import { readXmlCommands } from './read-xml-commands.ts';
import { guessXmlValue } from './xml-value.ts';

async function read(xml: string | Uint8Array, chunkBytes = 1 << 20): Promise<Command[]> {
  const bytes = Buffer.from(xml);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const commands: Command[] = [];
  for await (const command of readXmlCommands(chunks())) commands.push(command);
  return commands;
}

const refusal = (xml: string | Uint8Array) => commandRefusal(read(xml));

const doc = (...entries: [string, unknown][]) => new JsonObject(entries as never);

describe('commands of XML', () => {
  const body = `<?xml version="1.0" encoding="UTF-8"?>
    <!-- from an old client --><update>
    <add commitWithin="5000" overwrite="true">
      <doc boost="1.0">
        <field name="id">ä&amp;1</field>
        <field name="title" boost="1.0"><![CDATA[a < b]]> &#x1F600;<!-- no text --> c</field>
        <field name="labels">red</field><field name="labels">12</field>
        <field name="price">19.90</field><field name="none" null="true">x</field><field name="empty"></field>
      </doc>
      <doc><field name='id'>2</field></doc>
    </add>
    <delete commitWithin="-1"><id>7</id><id> 8 </id><query>price:[* TO 5]</query></delete>
    <commit waitSearcher="false" openSearcher="true" expungeDeletes="false"/>
    <optimize maxSegments="1"/>
  </update>`;
  const commands: Command[] = [
    { kind: 'commit', within: 5000 },
    {
      kind: 'add',
      position: 0,
      json: doc(
        ['id', 'ä&1'],
        ['title', 'a < b 😀 c'],
        ['labels', 'red'],
        ['labels', new JsonNumber('12')],
        ['price', new JsonNumber('19.90')],
      ),
    },
    { kind: 'add', position: 1, json: doc(['id', new JsonNumber('2')]) },
    { kind: 'delete', position: 2, id: '7' },
    { kind: 'delete', position: 3, id: ' 8 ' },
    { kind: 'delete-by-query', position: 4, query: 'price:[* TO 5]' },
    { kind: 'commit', openSearcher: true, waitSearcher: false },
    { kind: 'commit' },
  ];

  it.each([1, 2, 7, 1 << 20])('are read in chunks of %i bytes', async (size) => {
    expect(await read(body, size)).toEqual(commands);
  });

  it('may be a single command, in the container of SolrJ, after a byte order mark, or nothing', async () => {
    expect(await read('<commit />')).toEqual([{ kind: 'commit' }]);
    expect(await read('\uFEFF<delete><id>1</id></delete>')).toEqual([{ kind: 'delete', position: 0, id: '1' }]);
    expect(await read('<stream><add><doc/></add><delete/></stream>')).toEqual([
      { kind: 'add', position: 0, json: doc() },
    ]);
    expect(await read(' \n ')).toEqual([]);
    expect(await read('')).toEqual([]);
  });

  it('have booleans in the spellings of parameters', async () => {
    const [add, commit] = await read(
      '<update><add overwrite="1"><doc><field name="n" null="True">x</field></doc></add><commit openSearcher="off" waitSearcher="ON"/></update>',
    );
    expect(add).toEqual({ kind: 'add', position: 0, json: doc() });
    expect(commit).toEqual({ kind: 'commit', openSearcher: false, waitSearcher: true });
  });

  it('warn that a boost is ignored', async () => {
    const [warning] = await read('<add><doc><field name="id" boost="2.5">1</field></doc></add>');
    expect(warning).toEqual({ kind: 'warning', msg: expect.stringContaining('boost is ignored') });
  });

  it('are read after documents and deletes that are wrong by themselves', async () => {
    const field = (text: string) => `<doc><field name="id">1</field><field${text}>x</field></doc>`;
    const docs = ['', ' name="n" update="bogus"', ' name="n" null="maybe"', ' name="n"'].map(field).join('');
    const commands = await read(
      `<update><add>${docs}</add><delete><id/><query> </query><id version="7">2</id></delete></update>`,
    );
    expect(commands.map((one) => (one.kind === 'invalid' ? [one.position, one.change, one.id] : one))).toEqual([
      [0, 'add', '1'],
      [1, 'add', '1'],
      [2, 'add', '1'],
      { kind: 'add', position: 3, json: doc(['id', new JsonNumber('1')], ['n', 'x']) },
      [4, 'delete', undefined],
      [5, 'delete-by-query', undefined],
      { kind: 'delete', position: 6, id: '2', version: '7' },
    ]);
  });

  it.each([
    ['<add><doc><field name="id">1</doc></add>', 'line 1, column 34'],
    ['<add><doc></doc>', 'unclosed tag'],
    ['<add/>text', 'outside of root'],
    ['<docs/>', '<docs> is at the top, where one of <update>'],
    ['<add><field name="id">1</field></add>', '<field> is in <add>, where one of <doc>'],
    ['<add><doc><doc/></doc></add>', 'a document cannot contain documents'],
    ['<add><doc><field name="a"><b/></field></doc></add>', '<b> is in <field>, where no element'],
    ['<add><doc>words</doc></add>', '<doc> contains text'],
    ['<add><doc><field>1</field></doc></add>', '<field> needs a name'],
    ['<add><doc><field name="n" update="removeregex">1</field></doc></add>', 'update="removeregex" is not possible'],
    ['<add overwrite="false"/>', 'overwrite=false'],
    ['<add commitWithin="soon"/>', 'commitWithin'],
    ['<delete><query> </query></delete>', '<query> is empty'],
    ['<commit waitSearcher="maybe"/>', 'waitSearcher'],
    ['<rollback/>', 'rollback is not possible'],
  ])('refuse %s', async (xml, message) => {
    expect(await refusal(xml)).toEqual(expect.stringMatching(/^bad-request: /));
    expect(await refusal(xml)).toEqual(expect.stringContaining(message));
  });
});

describe('hostile XML', () => {
  const add = (text: string) => `<add><doc><field name="id">${text}</field></doc></add>`;

  it.each([
    ['a document type', `<!DOCTYPE add>${add('1')}`, 'document types are not allowed'],
    [
      'entities that multiply',
      `<!DOCTYPE add [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>${add('&b;')}`,
      'document types are not allowed',
    ],
    ['an entity without a declaration', add('&nbsp;'), 'undefined entity'],
    ['a control character', add('\u0001'), 'disallowed character'],
    ['half of a surrogate pair as a reference', add('&#xD800;'), 'malformed character entity'],
    ['the same attribute twice', '<add><doc><field name="a" name="b">1</field></doc></add>', 'duplicate attribute'],
    [
      'a crowd of attributes',
      `<add ${Array.from({ length: 100 }, (_, i) => `a${i}="1"`).join(' ')}/>`,
      'more than 32 attributes',
    ],
    ['deep nesting', '<add>'.repeat(100_000), '<add> is in <add>'],
  ])('is refused: %s', async (_what, xml, message) => {
    expect(await refusal(xml)).toEqual(expect.stringContaining(message));
  });

  it('is refused in an encoding other than UTF-8', async () => {
    const said = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><add/>');
    expect(await refusal(said)).toEqual(expect.stringMatching(/^unsupported-media-type: .*ISO-8859-1/));
    expect(await refusal(Buffer.from('<add/>', 'utf16le'))).toEqual(expect.stringContaining('line 1'));
    expect(await refusal(Buffer.from(add('\xe9'), 'latin1'))).toEqual(expect.stringContaining('not UTF-8'));
    expect(await refusal(Buffer.from(add('é')).subarray(0, 28))).toEqual(expect.stringContaining('not UTF-8'));
  });

  it.each([
    ['text', '<delete><id>', 'x'],
    ['a comment', '<add><!--', 'x'],
    ['a document type', '<!DOCTYPE add [', ' '],
    ['an attribute', '<add a="', 'x'],
  ])('with endless %s is refused, not kept in memory', async (_what, begin, more) => {
    const part = Buffer.from(more.repeat(65536 / more.length));
    let given = 0;
    async function* endless() {
      yield Buffer.from(begin);
      for (; given < 5000; given++) yield part;
    }
    const drain = async () => {
      for await (const _ of readXmlCommands(endless()));
    };
    await expect(drain()).rejects.toMatchObject({ code: 'too-large' });
    expect(given).toBeLessThan(140);
  });
});

describe('a document over the limit', () => {
  // As in a process that has compiled so many regular expressions that V8 stops optimizing them.
  beforeAll(() => setFlagsFromString('--no-regexp-optimization'));
  afterAll(() => setFlagsFromString('--regexp-optimization'));

  const id = (value: string, rest = '') => `<doc><field name="id">${value}</field>${rest}</doc>`;
  const long = 'x'.repeat(3 * 1024 * 1024);

  it.each([
    ['text', `<field name="a">${long.repeat(3)}</field>`],
    ['fields', `<field name="a">${long}</field>`.repeat(3)],
    [
      'what looks like its end',
      `<field name="</doc>'>"><!-- </doc>" --><![CDATA[</doc>]]><?a </doc>?>${long.repeat(3)}</field>`,
    ],
    [
      'what looks like its end, late',
      `${`<!--${long}-->`.repeat(3)}<field name='a="</doc>'><![CDATA[ </doc> ]] ]]>&lt;/doc></field>`,
    ],
    ['malformed XML', `<field name="a">${long.repeat(3)}</fold>`],
  ])('is left out alone: %s', async (_what, fields) => {
    const body = `<update><add>${id('1')}<doc/>${id('2', fields)}${id('3')}</add><delete><id>4</id></delete></update>`;
    const commands = await read(body, 65_521);
    expect(commands.map((one) => (one.kind === 'invalid' ? [one.position, one.error.code] : one))).toEqual([
      { kind: 'add', position: 0, json: doc(['id', new JsonNumber('1')]) },
      { kind: 'add', position: 1, json: doc() },
      [2, 'too-large'],
      { kind: 'add', position: 3, json: doc(['id', new JsonNumber('3')]) },
      { kind: 'delete', position: 4, id: '4' },
    ]);
  });

  it('is the only one that counts', async () => {
    const [one, two] = await read(
      `<add>${' '.repeat(99)}${id('1', `<field name="a">${long.repeat(2)}</field>`)}${id('2', `<field name="a">${long.repeat(2)}</field>`)}</add>`,
    );
    expect([one?.kind, two?.kind]).toEqual(['add', 'add']);
  });

  it('must end', async () => {
    await expect(read(`<add><doc><field name="a">${long.repeat(3)}`)).rejects.toThrow('unclosed tag');
  });

  it('counts in the lines of later errors', async () => {
    const body = `<add>\n${id('1', `<field name="a">${`${long}\n`.repeat(3)}</field>\n`)}\n</bad>`;
    await expect(read(body)).rejects.toThrow('line 7');
  });
});

describe('the value of a text', () => {
  it.each([
    ['true', true],
    ['False', 'False'],
    ['12', new JsonNumber('12')],
    ['-0.5e3', new JsonNumber('-0.5e3')],
    ['9223372036854775807', new JsonNumber('9223372036854775807')],
    ['9223372036854775808', '9223372036854775808'],
    ['007', '007'],
    ['+1', '+1'],
    ['1e999', '1e999'],
    ['2024-01-31', '2024-01-31'],
  ])('%j', (text, value) => {
    expect(guessXmlValue(text)).toEqual(value);
  });
});
