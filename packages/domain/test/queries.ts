import { expect } from '@jest/globals';
import { AkinError } from '../src/errors.ts';
import { escapeQueryText, parseQuery } from '../src/parse-query.ts';
import type { Query } from '../src/query.ts';

/** Prints the tree as query text with explicit groups. The parser must turn it into the same tree. */
export function print(query: Query): string {
  switch (query.kind) {
    case 'all':
      return '*:*';
    case 'none':
      return '(-*:*)';
    case 'term':
      return `${escapeQueryText(query.field)}:${escapeQueryText(query.value)}`;
    case 'words':
      return `{!words f="${quoted(query.field)}" q.op=${query.operator} v="${quoted(query.value)}"}`;
    case 'phrase':
      return `${escapeQueryText(query.field)}:"${quoted(query.value)}"${query.slop === 0 ? '' : `~${query.slop}`}`;
    case 'prefix':
      return `${escapeQueryText(query.field)}:${escapeQueryText(query.value)}*`;
    case 'wildcard':
      return `${escapeQueryText(query.field)}:${query.parts.map((part) => (typeof part === 'string' ? escapeQueryText(part) : part.any)).join('')}`;
    case 'fuzzy':
      return `${escapeQueryText(query.field)}:${escapeQueryText(query.value)}~${query.edits}`;
    case 'range': {
      const bound = (text: string | null) => (text === null ? '*' : `"${quoted(text)}"`);
      const [open, close] = [query.includeLow ? '[' : '{', query.includeHigh ? ']' : '}'];
      return `${escapeQueryText(query.field)}:${open}${bound(query.low)} TO ${bound(query.high)}${close}`;
    }
    case 'distance': {
      const { field, from } = query.distance;
      const [low, high] = [query.low === null ? '' : `l=${query.low}`, query.high === null ? '' : `u=${query.high}`];
      return `{!frange ${low} ${high} incl=${query.includeLow} incu=${query.includeHigh} v="geodist(${field},${from.lat},${from.lon})"}`;
    }
    case 'box':
      return `{!bbox sfield="${quoted(query.field)}" pt=${query.center.lat},${query.center.lon} d=${query.kilometers}}`;
    case 'by-distance': {
      const { field, from } = query.distance;
      return `{!func v="geodist(${field},${from.lat},${from.lon})"}/${query.unit} of ${print(query.query)}`;
    }
    case 'exists':
      return `${escapeQueryText(query.field)}:*`;
    case 'bool':
      return `(${[
        ...query.must.map((inner) => `+${print(inner)}`),
        ...query.should.map(print),
        ...query.mustNot.map((inner) => `-${print(inner)}`),
      ].join(' ')})`;
    case 'boost':
      return `(${print(query.query)})^${query.factor}`;
    case 'constant':
      return `(${print(query.query)})^=${query.score}`;
  }
}

function quoted(text: string): string {
  return text.replace(/["\\]/g, '\\$&');
}

/** Removes the positions from a tree. */
export function withoutPositions(query: Query): unknown {
  return JSON.parse(
    JSON.stringify(query, (key, value) => (['position', 'fieldPosition'].includes(key) ? undefined : value)),
  );
}

/** The error message for a rejected query. */
export function messageOf(text: string): string {
  try {
    parseQuery(text);
  } catch (error) {
    expect(error).toBeInstanceOf(AkinError);
    expect((error as AkinError).code).toBe('bad-request');
    return (error as AkinError).message;
  }
  throw new Error(`${text} was read without an error`);
}
