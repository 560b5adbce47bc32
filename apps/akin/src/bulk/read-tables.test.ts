import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { columnTypes } from './column-types.ts';
import { readCsv, readRows } from './read-csv.ts';
import { formatOf, readLines } from './read-lines.ts';
import { parquetTypes } from './read-parquet.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'akin-tables-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Options {
  readonly name?: string;
  readonly from?: number;
  readonly lists?: readonly string[];
  readonly separator?: string;
  readonly listSeparator?: string;
  readonly id?: string;
  readonly picture?: string;
  readonly decimalComma?: boolean;
}

function cellsOf(options: Options) {
  const { lists = [], separator = ',', listSeparator = '|', id = 'id', picture, decimalComma = false } = options;
  return { separator, lists: new Set(lists), listSeparator, decimalComma, columns: { id, picture } };
}

/** The result: for each row its number and its document, or its error. */
async function read(bytes: Buffer | string, options: Options = {}): Promise<[number, unknown][]> {
  const { name = 'table.csv', from = 0 } = options;
  const file = join(folder, name);
  await writeFile(file, bytes);
  const rows: [number, unknown][] = [];
  const start = { lines: from, bytes: 0 };
  for await (const line of readLines(file, start, formatOf(file), cellsOf(options))) {
    rows.push([line.number, line.bytes ? JSON.parse(line.bytes.toString()) : line.problem]);
  }
  return rows;
}

describe('CSV', () => {
  it('becomes documents: numbers and booleans stay such, empty cells are no value, everything else is text', async () => {
    const text =
      '\uFEFFid,name,price,code,on,ean\r\n1,"a ""b"", c",12.50,007,true,12345678901234567890\r\n2,,-3,0x1,TRUE,\r\n';
    const rows = [
      [2, { id: '1', name: 'a "b", c', price: 12.5, code: '007', on: true, ean: '12345678901234567890' }],
      [3, { id: '2', price: -3, code: '0x1', on: 'TRUE' }],
    ];
    expect(await read(text)).toEqual(rows);
    expect(await read(gzipSync(text), { name: 'packed.csv.gz' })).toEqual(rows);
    expect(
      await read(text.replaceAll(',', '\t').replace('\t c"', ', c"'), { name: 'tabs.tsv', separator: '\t' }),
    ).toEqual(rows);
  });

  it('that is cut off is an error', async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => `${i},${Math.sin(i)}\n`);
    const packed = gzipSync(`id,value\n${rows.join('')}`);
    await expect(read(packed.subarray(0, packed.length / 2), { name: 'cut.csv.gz' })).rejects.toMatchObject({
      name: 'AkinError',
      message: 'The gzip data is cut off or damaged: unexpected end of file.',
    });
  });

  it('keeps line ends inside quotes, counts lines, and continues after a given line', async () => {
    const text = 'id,text\na,"two\nlines"\n\nb,x\nc,y\n';
    expect(await read(text)).toEqual([
      [3, { id: 'a', text: 'two\nlines' }],
      [5, { id: 'b', text: 'x' }],
      [6, { id: 'c', text: 'y' }],
    ]);
    expect(await read(text, { from: 5 })).toEqual([[6, { id: 'c', text: 'y' }]]);
  });

  it('tells which bytes of the file each row has', async () => {
    const rows = ['id,text\n', 'ä,"two\nlines"\n', 'b,x,y\n', 'c,z'];
    const file = join(folder, 'places.csv');
    await writeFile(file, rows.join(''));
    const places: (readonly [number, number])[] = [];
    for await (const { start, end } of readLines(file, { lines: 0, bytes: 0 }, formatOf(file), cellsOf({}))) {
      places.push([start, end]);
    }
    expect(places).toEqual([
      [8, 23],
      [23, 29],
      [29, 32],
    ]);
  });

  it('reads lists in the given columns, and keeps the payload of import as text', async () => {
    const text = 'id,labels,import\na,red|1|,"{""content_descriptor"":""x""}"\n';
    expect(await read(text, { lists: ['labels'] })).toEqual([
      [2, { id: 'a', labels: ['red', 1], import: '{"content_descriptor":"x"}' }],
    ]);
    expect(await read('id,sizes\na,S; M|L\n', { lists: ['sizes'], listSeparator: '; ' })).toEqual([
      [2, { id: 'a', sizes: ['S', 'M|L'] }],
    ]);
    expect(await read('id,sizes\na,|S||M|\nb,|\n', { lists: ['sizes'] })).toEqual([
      [2, { id: 'a', sizes: ['S', 'M'] }],
      [3, { id: 'b', sizes: [] }],
    ]);
  });

  it('reports a row of another length, and continues', async () => {
    expect(await read('id,a\n1\n2,3,4\n5,6\n')).toEqual([
      [2, 'The row has 1 cells, the first row has 2.'],
      [3, 'The row has 3 cells, the first row has 2.'],
      [4, { id: '5', a: 6 }],
    ]);
  });

  it.each([
    ['id,,a\n1,2,3\n', /has an empty name/],
    ['id,a,a\n1,2,3\n', /names the column "a" twice/],
    ['id,a\n1,"open\n2,3\n', /The file is not CSV: Quote/],
    [`id,a\n1,"${'x'.repeat(9 * 1024 ** 2)}"\n`, /The file is not CSV: Max Record Size/],
    ['id;title;price\n1;a;2\n', /only one cell: "id;title;price"\. Use --separator ';'\.$/],
    ['id\ttitle\n1\ta\n', /Use --separator \$'\\t', or name the file \.tsv\.$/],
  ])('refuses a file that names no columns, has another separator or ends inside quotes', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  it.each([
    [{}, 'no column id; columns are sku, file, price: use --id-column'],
    [{ id: 'SKU' }, 'no column SKU; columns are sku, file, price: use --id-column'],
    [{ id: 'sku', picture: 'image' }, 'no column image; columns are sku, file, price: use --picture-column'],
  ])('is refused before its first row if a column is not there', async (options, message) => {
    await expect(read('sku,file,price\n1,2\n', options)).rejects.toThrow(message);
    await expect(read('id,sku,file\n1\n', { id: 'sku' })).rejects.toThrow('the column id would be lost');
  });

  it('has a type for each column: what all of its values have in common', async () => {
    const text = [
      'sku;ean;mixed;price;stock;sold;on;either;none;id_like;labels',
      '1;00123;1;12;1;2024-02-29;true;true;;12345678901234567890;1',
      '2;5;x;-1.5;2;2024-02-29T12:00:00Z;false;1;;1;2',
      '3;;;;;;;;;;',
      '4;too;few',
    ].join('\n');
    const options = { separator: ';', id: 'sku', lists: ['labels'] };
    const types = async (table: string, more: Options = {}) => {
      const cells = cellsOf({ ...options, ...more });
      const rows = readRows(Readable.from([Buffer.from(table)]), cells);
      return Object.fromEntries((await columnTypes(rows, cells)).types);
    };
    expect(await types(text)).toEqual({
      ean: 'string',
      mixed: 'string',
      price: 'double',
      stock: 'long',
      sold: 'date',
      on: 'boolean',
      either: 'string',
      id_like: 'string',
      labels: 'string[]',
    });
    expect(await types('sku;a;b;c;d\n1;12,50;1.234,5;1.5;1.234', { decimalComma: true })).toEqual({
      a: 'double',
      b: 'double',
      c: 'string',
      d: 'long',
    });
    expect(await types('sku;a\n1;12,50')).toEqual({ a: 'string' });
  });

  it('names the first value that makes a text of a column of another type', async () => {
    const rows = (prices: readonly string[]) =>
      readRows(
        Readable.from([Buffer.from(`id,price\n${prices.map((price, i) => `${i},${price}\n`).join('')}`)]),
        cells,
      );
    const cells = cellsOf({});
    const doubts = async (prices: readonly string[]) => (await columnTypes(rows(prices), cells)).doubtful;
    const numbers = (count: number) => Array.from({ length: count }, (_, i) => String(i / 2));
    const price = { name: 'price', type: 'double', cell: 'n/a' };
    expect(await doubts(['n/a', ...numbers(9)])).toEqual([{ ...price, line: 2 }]);
    expect(await doubts([...numbers(1_500), 'n/a', ...numbers(2_000)])).toEqual([{ ...price, line: 1_502 }]);
    expect(await doubts([...numbers(8), 'n/a', 'none'])).toEqual([]);
    expect(await doubts([...numbers(8), 'n/a'])).toEqual([]);
    expect(await doubts(numbers(20))).toEqual([]);
  });

  it('keeps cells of a text column as they are, and reads numbers with a decimal comma', async () => {
    const types = new Map([['ean', 'string' as const]]);
    const cells = { ...cellsOf({ separator: ';', decimalComma: true }), types };
    const table = Readable.from([Buffer.from('id;ean;price;big\n1;5;12,50;-1.234.567,8\n')]);
    const lines: string[] = [];
    for await (const { bytes } of readCsv(table, { lines: 0, bytes: 0 }, cells)) lines.push(String(bytes));
    expect(lines).toEqual(['{"id":"1","ean":"5","price":12.50,"big":-1234567.8}']);
  });

  it('that is not UTF-8 is refused with the line, instead of stored with damaged text', async () => {
    const latin = (text: string) => Buffer.from(text, 'latin1');
    for (const [bytes, line] of [
      [latin('id,name\n1,plain\n2,Müller\n'), 3],
      [latin('id,größe\n1,2\n'), 1],
      [Buffer.concat([Buffer.from(`id,name\n${'1,ä\n'.repeat(20_000)}`), latin('2,\xe4\n')]), 20_002],
      [latin('id,name\n1,\xc3'), 2],
    ] as const) {
      await expect(read(bytes)).rejects.toThrow(`Line ${line} of the CSV file is not UTF-8.`);
    }
    const utf16 = Buffer.from('\ufeffid,name\n1,Müller\n', 'utf16le');
    expect(await read(utf16)).toEqual([[2, { id: '1', name: 'Müller' }]]);
  });

  it('is empty without rows', async () => {
    expect(await read('')).toEqual([]);
    expect(await read('id,a\n')).toEqual([]);
  });
});

describe('Parquet', () => {
  const columns = (count: number) => {
    const data = <Value>(of: (i: number) => Value) => Array.from({ length: count }, (_, i) => of(i));
    return [
      { name: 'id', data: data((i) => `row ${i}`), type: 'STRING' as const },
      { name: 'big', data: data((i) => 9007199254740993n + BigInt(i)), type: 'INT64' as const },
      { name: 'price', data: data((i) => (i % 2 ? null : i / 4)), type: 'DOUBLE' as const, nullable: true },
      { name: 'at', data: data((i) => new Date(Date.UTC(2026, 0, 1 + i))), type: 'TIMESTAMP' as const },
    ];
  };
  const file = (count: number, rowGroupSize: number) =>
    Buffer.from(parquetWriteBuffer({ columnData: columns(count), rowGroupSize }));

  it('becomes documents, group by group, with all digits of whole numbers', async () => {
    const rows = await read(file(5, 2), { name: 'rows.parquet' });
    expect(rows.map(([number]) => number)).toEqual([1, 2, 3, 4, 5]);
    expect(rows[2]?.[1]).toMatchObject({ id: 'row 2', price: 0.5, at: '2026-01-03T00:00:00.000Z' });
    expect(rows[3]?.[1]).not.toHaveProperty('price');
    expect(await read(file(5, 2), { name: 'rows.parquet', from: 3 })).toEqual(rows.slice(3));
    const lines: string[] = [];
    for await (const { bytes } of readLines(
      join(folder, 'rows.parquet'),
      { lines: 0, bytes: 0 },
      'ndjson',
      cellsOf({}),
    )) {
      lines.push(String(bytes));
    }
    expect(lines[1]).toContain('"big":9007199254740994');
  });

  it('has Double columns for numbers with fractions, and is refused without the columns that are needed', async () => {
    await writeFile(join(folder, 'types.parquet'), file(2, 2));
    expect(await parquetTypes(join(folder, 'types.parquet'), { id: 'id' })).toEqual(new Map([['price', 'double']]));
    await expect(parquetTypes(join(folder, 'types.parquet'), { id: 'sku' })).rejects.toThrow(
      'no column sku; columns are id, big, price, at: use --id-column',
    );
  });

  it('writes bytes as base64, a struct as its JSON, and NaN as no value', async () => {
    const columnData = [
      { name: 'thumbnail', data: [new Uint8Array([1, 2, 3])], type: 'BYTE_ARRAY' as const },
      { name: 'nan', data: [Number.NaN], type: 'DOUBLE' as const },
      { name: 'import', data: [{ content_cluster: 7, labels: ['a'] }], type: 'JSON' as const },
    ];
    expect(await read(Buffer.from(parquetWriteBuffer({ columnData })), { name: 'odd.parquet' })).toEqual([
      [1, { thumbnail: 'AQID', import: '{"content_cluster":7,"labels":["a"]}' }],
    ]);
  });

  it('refuses a truncated or damaged file', async () => {
    const whole = file(100, 50);
    await expect(read(whole.subarray(0, 200), { name: 'cut.parquet' })).rejects.toThrow(
      'The Parquet file cannot be read',
    );
    await expect(read(Buffer.from('PAR1'), { name: 'mark.parquet' })).rejects.toThrow(
      'The Parquet file cannot be read',
    );
  });
});
