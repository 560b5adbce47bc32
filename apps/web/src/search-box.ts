import { COLORS } from './colors.ts';
import type { Query } from './view-state.ts';

export type SearchInput = { readonly words: string } | { readonly query: Query };

const LONGEST_ADDRESS = 2_000;

/**
 * Interprets the text: the URL of a picture asks for similar pictures; one or several colours, as `#E03C31`, `#e31`,
 * `0xE03C31`, `rgb(224, 60, 49)` or by name, ask for pictures in them; any other text is words or a query.
 */
export function readSearchBox(text: string): SearchInput {
  const asked = text.trim();
  if (/^https?:\/\/\S+$/i.test(asked) && URL.canParse(asked) && asked.length <= LONGEST_ADDRESS) {
    return { query: { by: 'url', url: asked } };
  }
  const colors = asked
    .replace(RGB, hexOf)
    .split(/[\s,]+/)
    .map(colorOf);
  if (asked !== '' && colors.every((color) => color !== undefined))
    return { query: { by: 'hex', hex: colors.join(',') } };
  return { words: asked };
}

const RGB = /rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*\)/gi;

function hexOf(text: string, ...parts: string[]): string {
  const [red, green, blue] = parts.map(Number) as [number, number, number];
  if (Math.max(red, green, blue) > 255) return text;
  return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

function colorOf(word: string): string | undefined {
  const [, hex] = /^(?:#|0x)([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(word) ?? [];
  if (hex === undefined) {
    const name = word.toLowerCase().replace(/^grey$/, 'gray');
    return Object.hasOwn(COLORS, name) ? COLORS[name] : undefined;
  }
  return `#${hex.length === 3 ? hex.replace(/./g, '$&$&') : hex}`.toLowerCase();
}

/**
 * Symbols and words of the query language: a text with these asks for fields and values, not for the content of
 * pictures.
 */
const QUERY = /[:"*?()[\]{}~^\\+!/&|<>]|(^|\s)-\S|(^|\s)(AND|OR|NOT|TO)(\s|$)/;

export function hasQuerySyntax(text: string): boolean {
  return QUERY.test(text);
}
