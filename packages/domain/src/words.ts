/** A word of a field and its position, counted from 1. */
export interface WordPosition {
  readonly word: string;
  readonly position: number;
}

/** Gap between the positions of two values of a field, so that no phrase spans them. */
const VALUE_GAP = 100;
/**
 * Maximum code points of a word. A longer run of letters is cut into pieces of this length, as in Solr's standard
 * tokenizer.
 */
const MAX_WORD = 255;

const ASCII = /^[\0-\x7f]*$/;

/**
 * Normalizes a text for the comparison of words: compatibility decomposition without marks and invisible characters,
 * then full case folding (ß = ss, ς = σ), then composition, which only matters for Hangul syllables. Folding is
 * idempotent.
 */
export function foldText(text: string): string {
  // The fast path: most text is ASCII.
  if (ASCII.test(text)) return text.toLowerCase();
  // Fold twice, because ẞ first becomes ß and then ss, and because some characters can be decomposed only after their
  // case is changed.
  return foldCase(decompose(foldCase(decompose(text)))).normalize('NFC');
}

function decompose(text: string): string {
  return text.normalize('NFKD').replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '');
}

function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/*
 * The word boundaries of UAX #29 as one regular expression over folded text, which has neither marks nor format
 * characters. Node's own segmenter depends on its version of ICU and on dictionaries for Chinese, Japanese or Thai; but
 * an index must find the same words after an update of Node. As in Solr's standard tokenizer, runs of Thai, Lao, Khmer
 * and Burmese are single words.
 * All repetitions are bounded: the engine keeps a backtracking state for each, and would run out of stack on millions
 * of letters.
 */
const CJK = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\u30fc\\u3031-\\u3035]';
const LETTER = `[\\p{Alphabetic}--${CJK}]`;
const DIGIT = '\\p{Nd}';
const CHARACTER = `[${LETTER}${DIGIT}\\p{Pc}]`;
const BETWEEN_LETTERS = `(?<=${LETTER})['.:\\u2018\\u2019\\u2024\\u00b7\\u0387\\u055f\\u05f4\\u2027](?=${LETTER})`;
const BETWEEN_DIGITS = `(?<=${DIGIT})[',.;\\u2018\\u2019\\u2024\\u037e\\u0589\\u066c](?=${DIGIT})`;
const HEBREW_QUOTE = '(?<=\\p{Script=Hebrew})"(?=\\p{Script=Hebrew})';
/** At most `MAX_WORD` characters. A longer run continues in the next piece. */
const WORD = `${CHARACTER}(?:${CHARACTER}|${BETWEEN_LETTERS}|${BETWEEN_DIGITS}|${HEBREW_QUOTE}){0,${MAX_WORD - 1}}`;
const SYMBOL = '\\p{Regional_Indicator}{2}|\\p{Extended_Pictographic}';
const TOKENS = new RegExp(`(?<cjk>${CJK}{1,1000})|(?<word>${WORD})|(?<symbol>${SYMBOL})`, 'gv');
/** The same for folded text that is pure ASCII: most text, in a third of the time. */
const ASCII_WORD = `[a-z0-9_](?:[a-z0-9_]|(?<=[a-z])['.:](?=[a-z])|(?<=[0-9])[',.;](?=[0-9])){0,${MAX_WORD - 1}}`;
const ASCII_TOKENS = new RegExp(ASCII_WORD, 'g');
/** Connectors such as `_` can be part of a word, but are not a word alone. */
const CONNECTORS = /^\p{Pc}+$/u;

/**
 * Splits a text into folded words, in order: letters and digits between Unicode word boundaries; runs of Han, kana and
 * Hangul as overlapping pairs of characters (a single character as itself); emoji one by one. A word has at most 255
 * code points.
 */
export function tokenize(text: string): string[] {
  if (!ASCII.test(text)) return tokensOf(foldText(text));
  const words = text.toLowerCase().match(ASCII_TOKENS) ?? [];
  return text.includes('_') ? words.filter((word) => !CONNECTORS.test(word)) : words;
}

/** Splits folded text with any characters into words. */
function tokensOf(folded: string): string[] {
  const found: string[] = [];
  const run = new CjkBigrams(found);
  for (const match of folded.matchAll(TOKENS)) {
    const { cjk, word, symbol } = match.groups as { cjk?: string; word?: string; symbol?: string };
    if (cjk !== undefined) run.add(cjk, match.index);
    else if (symbol !== undefined) found.push(symbol);
    else if (word !== undefined && !CONNECTORS.test(word)) found.push(word);
  }
  return found;
}

/** The words of several values of one field with their positions. Values are 100 positions apart. */
export function wordsOfValues(values: readonly string[]): WordPosition[] {
  const positioned: WordPosition[] = [];
  let position = 0;
  for (const value of values) {
    for (const word of tokenize(value)) positioned.push({ word, position: ++position });
    position += VALUE_GAP;
  }
  return positioned;
}

/** Turns runs of characters into overlapping pairs; a single character stays as it is. */
class CjkBigrams {
  readonly #found: string[];
  #previous = '';
  #end = -1;
  #alone = false;

  constructor(found: string[]) {
    this.#found = found;
  }

  /** A run that starts where the previous one ended continues it. */
  add(run: string, index: number): void {
    if (index !== this.#end) this.#previous = '';
    for (const character of run) {
      if (this.#previous === '') {
        this.#found.push(character);
        this.#alone = true;
      } else {
        // The first pair replaces the single character that was added before.
        if (this.#alone) this.#found.pop();
        this.#found.push(this.#previous + character);
        this.#alone = false;
      }
      this.#previous = character;
    }
    this.#end = index + run.length;
  }
}
