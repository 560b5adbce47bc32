import { TRASHED_AT } from '@akin/domain';

const KEY = `"${TRASHED_AT}":`;
const FIELD = `${KEY}"[^"]*"`;
const FIELD_WITH_COMMA = new RegExp(`,${FIELD}|${FIELD},?`);

export function trashedLine(line: string, now: Date): string {
  return line.replace(/^\s*\{\s*/, `{${KEY}"${now.toISOString()}",`);
}

/**
 * A line of an export without the time of its deletion. In JSON, a quotation mark inside of a text is escaped: the name
 * with its marks is a key.
 */
export function untrashedLine(line: string): string {
  return line.replace(FIELD_WITH_COMMA, '');
}
