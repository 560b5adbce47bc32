import { growth, LINEAR } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foldText, tokenize, wordsOfValues } from './words.ts';

describe('folding', () => {
  it.each([
    ['Müller', 'muller'],
    ['STRASSE', 'strasse'],
    ['Straße', 'strasse'],
    ['STRAẞE', 'strasse'],
    ['ΣΊΣΥΦΟΣ', 'σισυφοσ'],
    ['σίσυφος', 'σισυφοσ'],
    ['ﬁlter', 'filter'],
    ['Ⅷ ㎏ ™', 'viii kg tm'],
    ['ＦＵＬＬ１２', 'full12'],
    ['İstanbul', 'istanbul'],
    ['Cafe\u0301', 'cafe'],
    ['co\u00adop\u200b\u2060', 'coop'],
    ['ﾗｰﾒﾝ', 'ラーメン'],
    ['가나다', '가나다'],
    ['가', '가'],
    ['Øre', 'øre'],
    ['', ''],
  ])('%j becomes %j', (text, folded) => {
    expect(foldText(text)).toBe(folded);
  });

  it('is idempotent, and ignores the case of any character', () => {
    const iota = /\u0345/;
    // Unassigned and private-use characters have neither case nor decompositions. They are three quarters of all, so a
    // sample is enough.
    const plain = /[\p{Unassigned}\p{Private_Use}]/u;
    for (let code = 0; code < 0x110000; code++) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const character = String.fromCodePoint(code);
      if (code % 64 > 0 && plain.test(character)) continue;
      const folded = foldText(character);
      if (foldText(folded) !== folded) throw new Error(`folding U+${code.toString(16)} twice changes it`);
      // The iota below a Greek vowel is a mark, which folding removes; in capitals it is a separate letter.
      if (iota.test(character.normalize('NFKD'))) continue;
      if (character.toUpperCase() === character.toLowerCase()) continue;
      const cases = [foldText(character.toUpperCase()), foldText(character.toLowerCase())];
      if (cases.some((one) => one !== folded)) throw new Error(`the cases of U+${code.toString(16)} fold apart`);
    }
  });

  it('is stable for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => expect(foldText(foldText(text))).toBe(foldText(text))),
    );
  });
});

describe('words', () => {
  it('in ASCII are the same as next to other characters', () => {
    const text = fc.string({ unit: fc.constantFrom(...'aZ_09 .,:;\'"-#@/\n'), maxLength: 60 });
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: 'binary-ascii' })), (ascii) => {
        expect(tokenize(`${ascii} 中`)).toEqual([...tokenize(ascii), '中']);
      }),
      { numRuns: 670.0 },
    );
    for (const long of ['a'.repeat(600), `${'_'.repeat(300)}a`, '1,2.3;4'.repeat(100)]) {
      expect(tokenize(`${long} 中`)).toEqual([...tokenize(long), '中']);
    }
  });

  it.each([
    ['The quick (“brown”) fox!', ['the', 'quick', 'brown', 'fox']],
    ["can't l’amour 'quoted'", ["can't", 'l’amour', 'quoted']],
    ['3.14 1,000.50 1.2.3 10% $5', ['3.14', '1,000.50', '1.2.3', '10', '5']],
    ['a.b 1.b a.1 a,b x:y 12:30', ['a.b', '1', 'b', 'a', '1', 'a', 'b', 'x:y', '12', '30']],
    ['https://example.com/a_b/photo-01.jpg', ['https', 'example.com', 'a_b', 'photo', '01', 'jpg']],
    ['__ _ foo_bar _x', ['foo_bar', '_x']],
    ['m² ½', ['m2', '1', '2']],
    ['צה"ל "שלום"', ['צה"ל', 'שלום']],
    ['', []],
    [' .,;!?\n\t\0', []],
    ['👍🏽 👨‍👩‍👧 🇩🇪🇫🇷', ['👍', '👨', '👩', '👧', '🇩🇪', '🇫🇷']],
    ['𝓗𝓮𝓵𝓵𝓸', ['hello']],
    ['हिन्दी', ['हनद']],
    ['ภาษาไทย', ['ภาษาไทย']],
  ])('of %j are %j', (text, expected) => {
    expect(tokenize(text)).toEqual(expected);
  });

  it.each([
    ['東京都', ['東京', '京都']],
    ['東', ['東']],
    ['東 京', ['東', '京']],
    ['東京のラーメン', ['東京', '京の', 'のラ', 'ラー', 'ーメ', 'メン']],
    ['서울 한국어', ['서울', '한국', '국어']],
    ['東京2020年', ['東京', '2020', '年']],
    ['カフェcafé', ['カフ', 'フェ', 'cafe']],
    ['。「東京」、', ['東京']],
    ['𠮷野家', ['𠮷野', '野家']],
    ['東。京', ['東', '京']],
  ])('of %j are the pairs %j', (text, expected) => {
    expect(tokenize(text)).toEqual(expected);
  });

  it('have at most 255 code points', () => {
    expect(tokenize('x'.repeat(600)).map((word) => word.length)).toEqual([255, 255, 90]);
    expect(tokenize('𝟙'.repeat(300)).map((word) => word.length)).toEqual([255, 45]);
    expect([...(tokenize('𞤀'.repeat(300))[0] as string)]).toHaveLength(255);
  });

  it('do not lose a pair in a run of any length', () => {
    const run = Array.from({ length: 5_000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join('');
    const pairs = tokenize(run);
    expect(pairs).toHaveLength(4_999);
    expect(pairs.every((pair, at) => pair === run.slice(at, at + 2))).toBe(true);
  });

  it('agree with the segmenter of the runtime on Latin, Greek and Cyrillic text', () => {
    const segmenter = new Intl.Segmenter('en', { granularity: 'word' });
    const texts = fc.string({ unit: fc.constantFrom(...'abcéßжΩ019_.,\'’;-/ ()"%$\n') });
    fc.assert(
      fc.property(texts, (text) => {
        const segments = [...segmenter.segment(foldText(text))].map((segment) => segment.segment);
        expect(tokenize(text)).toEqual(segments.filter((segment) => /[\p{L}\p{N}]/u.test(segment)));
      }),
      { numRuns: 1_000.0 },
    );
  });

  it('do not change when folded again, and contain no blanks', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const word of tokenize(text)) {
          expect(foldText(word)).toBe(word);
          expect(word).not.toMatch(/\s/);
          expect([...word].length).toBeLessThanOrEqual(255);
        }
      }),
    );
  });

  it('have positions with a gap of 100 between values', () => {
    expect(wordsOfValues(['Red shoe', '', 'blue'])).toEqual([
      { word: 'red', position: 1 },
      { word: 'shoe', position: 2 },
      { word: 'blue', position: 203 },
    ]);
  });

  it('of hostile text are found in time and without overflow', async () => {
    for (const unit of ['a', '_', 'a.', "a'", '東', 'é\u0301', '1,', '\ud800', '👍', '\ufdfa', 'א"']) {
      expect(await growth((length) => tokenize(unit.repeat(length)), 25_000)).toBeLessThan(LINEAR);
    }
    expect(await growth((length) => tokenize(`a${'\u0301'.repeat(length)}`), 100_000)).toBeLessThan(LINEAR);
    tokenize('a'.repeat(8_000_000));
  });
});
