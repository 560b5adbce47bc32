export function trashedLine(line: string, now: Date): string {
  return line.replace(/^\s*\{\s*/, `{"trashed_at":"${now.toISOString()}",`);
}

/**
 * A line of an export without the time of its deletion. In JSON, a quotation mark inside of a text is escaped: the name
 * with its marks is a key.
 */
export function untrashedLine(line: string): string {
  return line.replace(/,"trashed_at":"[^"]*"|"trashed_at":"[^"]*",?/, '');
}
