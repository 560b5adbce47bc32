import { areBoostsInRange, BOOST_LIMITS } from './boosts.ts';
import type { AkinError } from './errors.ts';
import { type ParseQueryOptions, readLocal } from './local-query.ts';
import type { Query, QueryOperator } from './query.ts';
import { MAX_QUERY_LENGTH, QueryBudget } from './query-budget.ts';
import { type LocalParams, QueryScanner, queryError, type ScanStart, type Token, WORD_ENDS } from './query-scanner.ts';
import { unstorableReason } from './text.ts';

/**
 * Parses the query language of Solr's standard parser into a tree.
 * As in Lucene's classic parser, operators have no precedence: each clause is required (+), optional or excluded (-).
 * AND makes the clauses on both sides required, so `a AND b OR c` is `+a +b c`. With the default operator AND, clauses
 * are required unless OR is next to them, so `a OR b` is `a b`. Parentheses make the meaning clear. A query that only
 * excludes (`-id:7`) excludes from all documents; a group inside a query that only excludes matches nothing. A blank
 * text matches nothing.
 * The parser is more lenient than Solr here: a value directly after the colon may start with a minus or plus
 * (`price:-5`, `location:-12.5,30`), and a backslash escapes blanks and brackets in range bounds.
 *
 * @throws AkinError bad-request that names the character (from 1) and what was expected; also for a text over the
 * limits of `query-budget.ts`.
 */
export function parseQuery(text: string, options: ParseQueryOptions = {}): Query {
  if (text.length > MAX_QUERY_LENGTH) {
    throw queryError('', 0, `it has ${text.length} characters; at most ${MAX_QUERY_LENGTH} are allowed`);
  }
  const problem = unstorableReason(text);
  if (problem !== null) {
    throw queryError(text, text.search(/\0|\p{Surrogate}/u), `found ${problem}, which no document can hold`);
  }
  const budget = new QueryBudget();
  const parameter = (name: string) => {
    const value = options.parameter?.(name);
    if (value === undefined) return undefined;
    budget.countReferenced(value.length);
    const unfit = unstorableReason(value);
    if (unfit !== null)
      throw queryError('', 0, `the parameter ${name} contains ${unfit}, which no document can contain`);
    return value;
  };
  return parseWhole(text, { ...options, parameter }, budget);
}

/** Escapes a text so that a query matches exactly these characters: `red shoe` becomes `red\ shoe`. */
export function escapeQueryText(text: string): string {
  if (text === '') return '""';
  // Escape blanks and special characters, and the operators when they are the whole text.
  return text.replace(/[\\+\-!():^[\]"{}~*?|&;/\s]/g, '\\$&').replace(/^(?:AND|OR|NOT)$/, '\\$&');
}

function parseWhole(text: string, options: ParseQueryOptions, budget: QueryBudget, start: ScanStart = {}): Query {
  const scanner = new QueryScanner(text, options.parameter, start);
  const position = scanner.position;
  if (text.startsWith('{!', position)) {
    const local = scanner.localParams();
    const [from, end] = [scanner.position, text.length];
    return excludeFromAll(readLocal({ scanner, position, from, end, ...local, options, budget, parse: parseWhole }));
  }
  if (scanner.onlyBlanksFollow()) return { kind: 'none' };
  return excludeFromAll(new Parser(scanner, options, budget).whole());
}

/** A top-level query that only excludes matches all other documents. */
function excludeFromAll(query: Query): Query {
  switch (query.kind) {
    case 'bool':
      if (query.must.length > 0 || query.should.length > 0) return query;
      return { ...query, must: [{ kind: 'all' }] };
    case 'boost':
    case 'constant':
      return { ...query, query: excludeFromAll(query.query) };
    default:
      return query;
  }
}

/** The field name with which clients of Solr nest a query in another one. */
const NESTED = '_query_';

/** The name before a colon, and its position. */
interface FieldName {
  readonly name: string;
  readonly position: number;
}

type Occur = 'must' | 'should' | 'mustNot';

interface Clause {
  readonly query: Query;
  readonly signed: boolean;
  /** An operator after the clause may change this. */
  occur: Occur;
}

class Parser {
  readonly #scanner: QueryScanner;
  readonly #options: ParseQueryOptions;
  readonly #operator: QueryOperator;
  readonly #budget: QueryBudget;
  #token: Token;

  constructor(scanner: QueryScanner, options: ParseQueryOptions, budget: QueryBudget) {
    this.#scanner = scanner;
    this.#options = options;
    this.#operator = options.defaultOperator ?? 'OR';
    this.#budget = budget;
    this.#token = this.#scanner.next();
  }

  whole(): Query {
    const query = this.#clauses(undefined);
    if (this.#token.kind === 'end') return query;
    throw this.#expected('the end of the query');
  }

  /** Parses clauses up to a closing parenthesis or the end. `field` is the field of the surrounding group. */
  #clauses(field: FieldName | undefined): Query {
    const clauses: Clause[] = [];
    do {
      const { kind } = this.#token;
      const joined = clauses.length > 0 && (kind === 'and' || kind === 'or') ? kind : undefined;
      if (joined !== undefined) this.#advance();
      const sign = this.#sign();
      const query = this.#clause(field);
      const previous = clauses.at(-1);
      if (previous !== undefined && previous.occur !== 'mustNot') {
        if (joined === 'and') previous.occur = 'must';
        if (joined === 'or' && this.#operator === 'AND') previous.occur = 'should';
      }
      let occur: Occur = sign ?? 'should';
      if (sign === undefined && (joined === 'and' || (this.#operator === 'AND' && joined !== 'or'))) occur = 'must';
      // With AND as the default, "a OR +b" makes b optional in Solr: the operator takes precedence over the sign.
      if (sign === 'must' && this.#operator === 'AND' && joined === 'or') occur = 'should';
      clauses.push({ occur, query, signed: sign !== undefined });
    } while (this.#token.kind !== 'end' && this.#token.kind !== 'close');
    return groupClauses(clauses);
  }

  #sign(): 'must' | 'mustNot' | undefined {
    const { kind } = this.#token;
    if (kind !== 'plus' && kind !== 'minus' && kind !== 'not') return undefined;
    this.#advance();
    return kind === 'plus' ? 'must' : 'mustNot';
  }

  #clause(groupField: FieldName | undefined): Query {
    let field = groupField;
    const named = this.#fieldName();
    if (named !== undefined) field = named;
    const token = this.#token;
    switch (token.kind) {
      case 'open':
        return this.#boosted(this.#group(field));
      case 'filter':
        // A filter adds only a constant to the score.
        return this.#boosted({ kind: 'constant', query: excludeFromAll(this.#group(field)), score: 1 });
      case 'local':
        return this.#local(token.local, field);
      case 'word':
        return this.#word(token, field);
      case 'phrase':
        return this.#phrase(token, field);
      case 'range': {
        this.#count();
        this.#advance();
        const { low, high, includeLow, includeHigh } = token;
        const position = this.#scanner.characterAt(token.start);
        return this.#boosted({
          kind: 'range',
          ...this.#field(field),
          low,
          high,
          includeLow,
          includeHigh,
          position,
        });
      }
      default:
        throw this.#expected(
          named === undefined ? 'a word, "phrase", field:value or (' : `a value after ${named.name}:`,
        );
    }
  }

  /** Reads `name:` if it is next. In `*:`, the star is read as a name too: only `*:*` is supported. */
  #fieldName(): FieldName | undefined {
    const token = this.#token;
    if (token.kind !== 'word' || !this.#scanner.colonFollows()) return undefined;
    const [part] = token.parts;
    const any = part !== undefined && typeof part !== 'string';
    if (token.parts.length !== 1 || (any && part.any === '?')) {
      throw this.#scanner.error(token.start, 'a field name cannot contain wildcards; escape * and ? with a backslash');
    }
    this.#advance();
    const colon = this.#token;
    const position = this.#scanner.characterAt(token.start);
    if (any) {
      this.#advance();
      if (this.#token.kind === 'word' && isAny(this.#token)) return { name: '*', position };
      throw this.#expected('* after *:, which means all documents');
    }
    // A sign is not possible after a colon, so a minus there belongs to the value: price:-5.
    const next = this.#scanner.text[colon.end];
    const afterNext = this.#scanner.text[colon.end + 1];
    if ((next === '-' || next === '+') && afterNext !== undefined && !WORD_ENDS.includes(afterNext)) {
      this.#token = this.#scanner.word(colon.end);
    } else this.#advance();
    return { name: part as string, position };
  }

  #group(field: FieldName | undefined): Query {
    const open = this.#token;
    return this.#budget.nested(this.#scanner, open.start, () => {
      this.#advance();
      const query = this.#clauses(field);
      if (this.#token.kind !== 'close') {
        throw this.#scanner.error(open.start, 'the parenthesis that opens here is not closed');
      }
      this.#advance();
      return query;
    });
  }

  #word(token: Token & { kind: 'word' }, field: FieldName | undefined): Query {
    this.#count();
    const position = this.#scanner.characterAt(token.start);
    this.#advance();
    const { boost, tilde } = this.#suffixes();
    return this.#withBoost(this.#wordQuery(token, field, tilde, position), boost);
  }

  #wordQuery(
    token: Token & { kind: 'word' },
    field: FieldName | undefined,
    tilde: Tilde | undefined,
    position: number,
  ): Query {
    const { parts } = token;
    if (isAny(token)) {
      if (field === undefined || field.name === '*') return { kind: 'all' };
      return { kind: 'exists', ...this.#field(field), position };
    }
    const named = this.#field(field);
    const [first, second] = parts;
    if (typeof first === 'string' && parts.length === 1) {
      if (tilde === undefined) return { kind: 'term', ...named, value: first, operator: this.#operator, position };
      return { kind: 'fuzzy', ...named, value: first, edits: this.#edits(tilde, first), position };
    }
    if (typeof first === 'string' && parts.length === 2 && typeof second !== 'string' && second?.any === '*') {
      return { kind: 'prefix', ...named, value: first, position };
    }
    return { kind: 'wildcard', ...named, parts, position };
  }

  /** `~0.8` is the old form: the share of the length that must be equal. */
  #edits(tilde: Tilde, value: string): 0 | 1 | 2 {
    const amount = tilde.amount ?? 2;
    if (amount >= 1 && !Number.isInteger(amount)) {
      throw this.#scanner.error(tilde.start, 'expected a whole number of edits after ~, as in ~1 or ~2');
    }
    const edits = amount >= 1 || amount === 0 ? amount : Math.floor((1 - amount) * [...value].length);
    return Math.min(2, edits) as 0 | 1 | 2;
  }

  #phrase(token: Token & { kind: 'phrase' }, field: FieldName | undefined): Query {
    this.#count();
    this.#advance();
    if (this.#token.kind === 'colon') {
      throw this.#scanner.error(token.start, 'a field name is not quoted; escape its odd characters with a backslash');
    }
    const { boost, tilde } = this.#suffixes();
    if (field?.name === NESTED) return this.#withBoost(this.#nested(token), boost);
    const slop = Math.min(Math.trunc(tilde?.amount ?? 0), 1_000_000);
    const position = this.#scanner.characterAt(token.start);
    return this.#withBoost({ kind: 'phrase', ...this.#field(field), value: token.value, slop, position }, boost);
  }

  /** `_query_:"…"`: a nested query, in any of the languages that local parameters name. */
  #nested(token: Token & { kind: 'phrase' }): Query {
    return this.#budget.nested(this.#scanner, token.start, () =>
      parseWhole(token.value, this.#options, this.#budget, this.#scanner.startInside(token.start)),
    );
  }

  /** The value of local parameters inside a query ends at the next blank or parenthesis. */
  #local(local: LocalParams, field: FieldName | undefined): Query {
    const token = this.#token;
    const { text } = this.#scanner;
    let end = token.end;
    if (!local.params.has('v')) while (end < text.length && !') \t\n\r\u3000{^'.includes(text[end] as string)) end++;
    const query = readLocal({
      scanner: this.#scanner,
      position: token.start,
      from: token.end,
      end,
      ...local,
      groupField: field?.name === NESTED ? undefined : field?.name,
      options: this.#options,
      budget: this.#budget,
      parse: parseWhole,
    });
    this.#scanner.position = end;
    this.#advance();
    return this.#boosted(query);
  }

  /** `^2` and `~1` after a word or phrase, in either order. */
  #suffixes(): { boost: Boost | undefined; tilde: Tilde | undefined } {
    let boost: Boost | undefined;
    let tilde: Tilde | undefined;
    for (;;) {
      const token = this.#token;
      if (token.kind === 'boost' && boost === undefined) boost = token;
      else if (token.kind === 'tilde' && tilde === undefined) tilde = token;
      else return { boost, tilde };
      this.#advance();
    }
  }

  #boosted(query: Query): Query {
    const token = this.#token;
    if (token.kind !== 'boost') return query;
    this.#advance();
    return this.#withBoost(query, token);
  }

  #withBoost(query: Query, boost: Boost | undefined): Query {
    if (boost === undefined) return query;
    const { constant, factor } = boost;
    const result: Query = constant ? { kind: 'constant', query, score: factor } : { kind: 'boost', query, factor };
    if (areBoostsInRange(result)) return result;
    throw this.#scanner.error(boost.start, BOOST_LIMITS);
  }

  #field(field: FieldName | undefined): { field: string; fieldPosition?: number } {
    if (field === undefined) return { field: this.#options.defaultField ?? 'text' };
    return { field: field.name, fieldPosition: field.position };
  }

  #advance(): void {
    this.#token = this.#scanner.next();
  }

  #count(): void {
    this.#budget.countClause(this.#scanner, this.#token.start);
  }

  #expected(what: string): AkinError {
    const { kind, start, end } = this.#token;
    if (kind === 'end') return this.#scanner.error(start, `expected ${what}, but the query ends`);
    const found = JSON.stringify(this.#scanner.text.slice(start, Math.min(end, start + 40)));
    const hint = kind === 'colon' ? ' (a colon inside a value is written \\: or the value stands in quotes)' : '';
    return this.#scanner.error(start, `expected ${what}, found ${found}${hint}`);
  }
}

type Boost = Token & { kind: 'boost' };
type Tilde = Token & { kind: 'tilde' };

function isAny(token: Token & { kind: 'word' }): boolean {
  const [part] = token.parts;
  return token.parts.length === 1 && typeof part === 'object' && part.any === '*';
}

function groupClauses(clauses: readonly Clause[]): Query {
  const [only] = clauses;
  if (clauses.length === 1 && only !== undefined && only.occur !== 'mustNot') {
    // `+(-a)` differs from `(-a)`: with the sign it is a group inside a query, which matches nothing.
    if (!only.signed || excludeFromAll(only.query) === only.query) return only.query;
  }
  const queries = (occur: Occur) => clauses.filter((clause) => clause.occur === occur).map((clause) => clause.query);
  return { kind: 'bool', must: queries('must'), should: queries('should'), mustNot: queries('mustNot') };
}
