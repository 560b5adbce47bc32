import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { ids, searchShop } from '../../test/search-shop.ts';
import { ENGINES } from '../../test/support.ts';
import { parseSort } from './sort.ts';

describe.each(ENGINES)('search on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  const { find } = searchShop(kind);
  const sorted = async (q: string) => ids(await find(q, { sort: [{ name: 'id', direction: 'asc' }] }));

  describe('queries', () => {
    itOnPostgres.each([
      ['*:*', '123456'],
      ['', ''],
      ['id:1', '1'],
      ['id:"5 🙂"', '5'],
      ['id:5\\ 🙂', '5'],
      ['-id:1', '23456'],
      ['-id:(1 2)', '3456'],
      ['id:(1 OR 3)', '13'],
      ['category:"red shoe"', '1'],
      ['category:red\\ *', '1'],
      ['category:?ed\\ shoe', '12'],
      ['category:*shoe', '12'],
      ['category:[R TO r]', '23'],
      ['category:[R TO s]', '123'],
      ['category:{* TO Red\\ shoe}', ''],
      ['category:"blue \\"hat\\" \\\\ 100%"', '3'],
      ['category:*\\ 100%', '3'],
      ['category:*100_', ''],
      ['labels:red', '12'],
      ['labels:shoe', ''],
      ['labels:(red AND Shoe)', '1'],
      ['labels:a_b', '1'],
      ['labels:a_*', '1'],
      ['labels:a%*', '2'],
      ['labels:a?b', '123'],
      ['labels:[B TO a]', '1'],
      ['labels:*', '123'],
      ['-labels:red', '3456'],
      ['-labels:*', '456'],
      ['price:10', '24'],
      ['price:(5 10.0)', '124'],
      ['price:[5 TO 10}', '1'],
      ['price:[* TO 0]', '3'],
      ['price:-7', '3'],
      ['price:9007199254740992', '5'],
      ['price:9007199254740993', ''],
      ['price:[1000 TO *]', '5'],
      ['price:[6 TO 99999999999999999999]', '245'],
      ['weight:[-2.5 TO 1.5}', '2'],
      ['weight:*', '124'],
      ['sold:true', '1'],
      ['sold:F', '2'],
      ['-sold:true', '23456'],
      ['NOT sold:true AND price:[* TO *]', '2345'],
      ['taken:2024-01-31', '12'],
      ['taken:"2024-01-31T00:00:00Z"', '1'],
      ['taken:[2024-01-31 TO 2024-01-31]', '12'],
      ['taken:{2024-01-31 TO *]', '3'],
      ['taken:[* TO 2024-02-01}', '12'],
      ['taken:[2024-01-31T12\\:00 TO 2024-02-01T00:00:00Z]', '23'],
      ['taken:[2024-03-01T00:00:00Z-1MONTH TO *]', '3'],
      ['location:"48.1,11.5"', '1'],
      ['location:[48,11 TO 49,12]', '1'],
      ['location:[-20,179 TO -10,-179]', '23'],
      ['location:[-20,-179.4 TO -10,179.4]', ''],
      ['location:*', '123'],
      ['tint_names:red', '1'],
      ['tint_free:(0 AND 8)', '14'],
      ['tint_names:*', '1'],
      ['tint_free:[5 TO 7]', ''],
      ['tint_isolated:true', '14'],
      ['shape_cluster:[0 TO 0]', '14'],
      ['shape_descriptor:*', '1234'],
      ['shoe', '124'],
      ['SHOE', '124'],
      ['red shoe', '124'],
      ['red AND shoe', '12'],
      ['shoe -red', '4'],
      ['"red shoe"', '12'],
      ['title:"red shoe"', ''],
      ['"running shoe"', '1'],
      ['"shoe red"~2', '12'],
      ['"shoe running"', ''],
      ['"running red shoe"~1', ''],
      ['"red running shoe"~1', '1'],
      ['"shoe running"~2', '1'],
      ['"red elegant"~1', '2'],
      ['"shoe elegant"~3', ''],
      ['"shoe elegant"~4', '2'],
      ['"shoe shoe"~1', '4'],
      ['elegant', '2'],
      ['ÉLÉGANT', '2'],
      ['eleg*', '2'],
      ['Él?gan*', '2'],
      ['*unning', '1'],
      ['京都', '36'],
      ['東京', '3'],
      ['東京都', '3'],
      ['都東京', ''],
      ['title:roam', '5'],
      ['title:raom~1', '5'],
      ['title:ram~1', '5'],
      ['title:roaming~', ''],
      ['title:foamy~', '5'],
      ['title:foamy~1', ''],
      ['roamed~2', '5'],
      ['runing~1', '1'],
      ['{!words f=title}red shoe', '12'],
      ['{!words f=category}SHOE', '12'],
      ['{!words f=category}running', ''],
      ['{!words f=title q.op=OR}roam 京都', '356'],
      ['text:*', '123456'],
      ['text:[roa TO rob]', '5'],
      ['[* TO *]', '123456'],
      ['{* TO *}', '123456'],
      ['-[* TO *]', ''],
      ['filter([* TO *]) -id:1', '23456'],
      ['{!frange}text', '123456'],
      ['location:[* TO *]', '123'],
      ['labels:{* TO *}', '123'],
      ['{!term f=id}5 🙂', '5'],
      ['{!terms f=id}1,2', '12'],
      ['{!prefix f=category}red', '1'],
      ['filter(-id:1) AND shoe', '24'],
      ['sold:true (-id:1)', '1'],
      ['"?!"', ''],
      ['+shoe "?!"', '124'],
    ])('%s finds %s', async (q, expected) => {
      expect(await sorted(q)).toBe(expected);
    });

    it('finds by fields with odd names', async () => {
      expect(await sorted("it's\\:\\ odd:o'neil")).toBe('5');
      expect(await sorted('Robert\\"\\)\\;\\ drop\\ table\\ documents\\;\\ --:x')).toBe('6');
    });

    itOnPostgres('filters by all filters, whatever they score', async () => {
      expect(ids(await find('shoe', { fq: ['price:10', '-sold:false'] }))).toBe('4');
      expect(await find('shoe', { fq: ['price:10', '-price:10'] })).toMatchObject({ numFound: 0, hits: [] });
    });

    itOnPostgres('finds a list of any length', async () => {
      const ids = Array.from({ length: 60_000 }, (_, i) => i + 2).join(',');
      expect(await sorted(`{!terms f=id}${ids}`)).toBe('2346');
      expect(await sorted(`{!terms f=price}${ids}`)).toBe('124');
    });

    itOnPostgres.each(['prize:5', 'price:abc', 'later:1'])('refuses %s', async (q) => {
      await expect(find(q)).rejects.toMatchObject({ code: 'bad-request' });
      await expect(find('*:*', { fq: [q] })).rejects.toMatchObject({ code: 'bad-request' });
    });
  });

  describe('hostile requests', () => {
    const hostile = [
      "'",
      '"',
      '\\',
      '%',
      '_',
      "'; drop table documents; --",
      '$1',
      '{}',
      '🙂',
      "\\'",
      ':*',
      '\u2028',
      'ﷺ',
    ];

    it.each(hostile)('finds nothing for %j in any place, and breaks nothing', async (text) => {
      const value = text.replace(/["\\]/g, '\\$&');
      for (const q of [
        `id:"${value}"`,
        `labels:"${value}"`,
        `"${value} never"~3`,
        `{!words f=title v="${value}"}`,
        `title:["${value}" TO "${value}"]`,
        `{!prefix f=title v="${value}"}`,
      ]) {
        expect(await find(q)).toMatchObject({ numFound: 0 });
      }
      await expect(find('*:*', { sort: [{ name: text, direction: 'asc' }] })).rejects.toMatchObject({
        code: 'bad-request',
      });
      expect((await find('*:*', { fields: [text] })).hits[0]?.document.size).toBe(0);
    });

    it('takes values of a megabyte', async () => {
      const long = 'x'.repeat(1_000_000);
      for (const q of [`id:${long}`, `labels:${long}*`, `title:*${long}`, `title:[${long} TO *]`, `*${long}`]) {
        expect(await find(q, { fq: ['id:1'] })).toMatchObject({ numFound: 0 });
      }
      await expect(find(long)).rejects.toThrow('at most 1000 are allowed');
    });

    it('takes many clauses and deep groups', async () => {
      const many = Array.from({ length: 19_000 }, (_, i) => i).join(' ');
      expect(ids(await find(`id:(${many})`))).toBe('12346');
      expect(ids(await find('*:*', { fq: [`-id:(${many})`] }))).toBe('5');
      expect(ids(await find(`${Array.from({ length: 1_999 }, (_, i) => `w${i}`).join(' ')} roam`))).toBe('5');
      expect(ids(await find(`${'(id:1 OR '.repeat(99)}id:2${')'.repeat(99)}`, { sort: parseSort('id asc') }))).toBe(
        '12',
      );
      expect(ids(await find(`${'-('.repeat(98)}id:2${')'.repeat(98)}`))).toBe('123456');
      expect(ids(await find(`"${'x '.repeat(1000)}"`))).toBe('');
      expect(ids(await find(`"${'x '.repeat(50)}"~5`))).toBe('');
      await expect(find(`"${'x '.repeat(51)}"~5`)).rejects.toThrow('at most 50 words, and this has 51');
    });

    it('takes many clauses in as many nested groups as are allowed', async () => {
      const level = Array.from({ length: 20 }, (_, i) => `w${i} AND `).join('');
      const query = `${`(${level}`.repeat(99)}roam${')'.repeat(99)}`;
      expect(await find(query, { scores: true })).toMatchObject({ numFound: 0 });
      expect(ids(await find('roam'))).toBe('5');
    });

    it('takes some long fuzzy words and refuses many', async () => {
      const fuzzy = (count: number) =>
        Array.from({ length: count }, (_, i) => `title:${'abcdefgh'.repeat(4)}${i}~2`).join(' ');
      expect(await find(fuzzy(2))).toMatchObject({ numFound: 0 });
      await expect(find(fuzzy(20))).rejects.toThrow('expensive clauses');
    });

    itOnPostgres.each(['*x#*', 'labels:*#x*', 'labels:[# TO #]', '[zz# TO zz#]', 'xyzzy#~1', '"a b#"~2'])(
      'takes some and refuses thousands of %s, each of which goes through all words or values',
      async (clause) => {
        const many = (count: number) =>
          Array.from({ length: count }, (_, i) => clause.replaceAll('#', `${i}`)).join(' ');
        expect(await find(many(40))).toMatchObject({ numFound: 0 });
        await expect(find('*:*', { fq: [many(200), many(200)] })).rejects.toMatchObject({ code: 'bad-request' });
        await expect(find(many(15_000))).rejects.toThrow('more than 256 expensive clauses');
      },
    );
  });
});
