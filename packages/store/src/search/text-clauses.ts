import { foldText, type Query, type QueryOperator, quote, tokenize } from '@akin/domain';
import type { FoundColumn } from './columns.ts';
import { fieldWord, quoteLexeme } from './document-words.ts';
import type { CompileContext } from './field-clauses.ts';
import { clauseError } from './query-values.ts';

type Clause<Kind extends Query['kind']> = Extract<Query, { kind: Kind }>;

/** A full-text condition and the score of a match. Undefined: the value has no words, and the clause has no effect. */
export type TextClause = { readonly where: string; readonly score: string } | undefined;

/** Words of one value in a query. */
const MAX_WORDS = 1_000;
/** Maximum number of words of a phrase with slop: the position of each is compared with that of each other. */
const MAX_SLOPPY_WORDS = 50;

/** A single word, or a value that contains several words. */
export function wordsSql(clause: Clause<'term' | 'words'>, found: FoundColumn, context: CompileContext): TextClause {
  const runs = runsOf(clause.value, clause.position);
  const lexeme = lexemeOf(clause, found);
  const queries = runs.map((run) => adjacent(run.map(lexeme)));
  return matching(queries.length === 0 ? undefined : joined(queries, clause.operator), context);
}

/** Adjacent words, or with slop: the total number of positions that they may be moved by. */
export function phraseSql(clause: Clause<'phrase'>, context: CompileContext): TextClause {
  const found = wordsOf(clause.value, clause.position);
  if (clause.slop > 0 && found.length > 1) {
    if (found.length <= MAX_SLOPPY_WORDS) return sloppyPhraseSql(found, clause.slop, context);
    throw clauseError(
      clause.position,
      `a phrase with slop has at most ${MAX_SLOPPY_WORDS} words, and this has ${found.length}`,
    );
  }
  return matching(found.length === 0 ? undefined : adjacent(found.map(quoteLexeme)), context);
}

/**
 * `red sho*` has a prefix as its last word; the words before it in the value (`wi-f*`, a run of Chinese) must be
 * adjacent.
 */
export function wordPrefixSql(clause: Clause<'prefix'>, context: CompileContext): TextClause {
  const found = wordsOf(clause.value, clause.position);
  const last = found.at(-1);
  if (last === undefined) return undefined;
  const open = foldText(clause.value).endsWith(last) ? ':*' : '';
  return matching(adjacent([...found.slice(0, -1).map(quoteLexeme), `${quoteLexeme(last)}${open}`]), context);
}

function lexemeOf(clause: Clause<'term' | 'words'>, { name, type, column }: FoundColumn): (word: string) => string {
  if (column.kind === 'words') return quoteLexeme;
  if (column.kind !== 'column' || (type !== 'string' && type !== 'strings')) {
    throw clauseError(clause.position, `{!words} is for String fields, and ${quote(name)} is a ${type}`);
  }
  return (word) => quoteLexeme(fieldWord(column.sql, word));
}

function wordsOf(value: string, position: number): string[] {
  const found = tokenize(value);
  if (found.length > MAX_WORDS) throw tooManyWords(found.length, position);
  return found;
}

function tooManyWords(count: number, position: number) {
  return clauseError(position, `the value has ${count} words; at most ${MAX_WORDS} are allowed`);
}

/** Words that are apart are not a run, even if they look like overlapping pairs: 東京 京都. */
function runsOf(value: string, position: number): string[][] {
  const runs = value.split(APART).flatMap((part) => pairRuns(wordsOf(part, position)));
  const count = runs.reduce((sum, run) => sum + run.length, 0);
  if (count > MAX_WORDS) throw tooManyWords(count, position);
  return runs;
}

const APART = /[\s、。，・]+/u;

/**
 * Runs of Chinese, Japanese and Korean are stored as overlapping pairs. These pairs must be adjacent: 東京都 is 東京 next
 * to 京都, not one of the two. Other words are separate.
 */
function pairRuns(found: readonly string[]): string[][] {
  const runs: string[][] = [];
  for (const word of found) {
    const run = runs.at(-1);
    const [previous, current] = [[...(run?.at(-1) ?? '')], [...word]];
    const overlaps = previous.length === 2 && current.length === 2 && previous[1] === current[0] && CJK.test(word);
    if (run !== undefined && overlaps) run.push(word);
    else runs.push([word]);
  }
  return runs;
}

const CJK = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+$/u;

function adjacent(lexemes: readonly string[]): string {
  return lexemes.join(' <-> ');
}

function joined(queries: readonly string[], operator: QueryOperator): string {
  return queries.map((query) => `(${query})`).join(operator === 'AND' ? ' & ' : ' | ');
}

/** The text of a tsquery becomes a parameter; quoted lexemes contain no syntax. */
function matching(query: string | undefined, { params }: CompileContext): TextClause {
  if (query === undefined) return undefined;
  const param = params.add(query, 'tsquery');
  return { where: `d.words @@ ${param}`, score: rank(param) };
}

/** More occurrences and shorter texts score higher: up to 1, divided by 1 + the logarithm of the number of words. */
function rank(param: string): string {
  return `ts_rank('{1,1,1,1}', d.words, ${param}, 1)::float8`;
}

/**
 * Lucene's sloppy phrase: with each word's position taken relative to its position in the phrase, all are within `slop`
 * of each other. A word that occurs twice in the phrase must occur twice in the text.
 */
function sloppyPhraseSql(found: readonly string[], slop: number, { params }: CompileContext): TextClause {
  params.countLoop();
  const all = params.add(found.map(quoteLexeme).join(' & '), 'tsquery');
  const phrase = params.add(found, 'text[]');
  const count = params.add(found.length, 'int');
  const moved = params.add(slop, 'int');
  const near =
    `(with occurrence as (select q.i, p, p - q.i as at from unnest(d.words) w(lexeme, positions, weights) ` +
    `join unnest(${phrase}) with ordinality q(word, i) on q.word = w.lexeme, unnest(w.positions) p) ` +
    `select exists (select from occurrence a join occurrence b on b.at between a.at and a.at + ${moved} ` +
    `group by a.i, a.at having count(distinct b.i) = ${count} and count(distinct b.p) >= ${count}))`;
  return { where: `case when d.words @@ ${all} then ${near} else false end`, score: rank(all) };
}
