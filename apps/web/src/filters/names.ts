/** Fields by which akin recognizes a file. */
export const FILE_FIELD = /^file_(hash|inode|changed|sidecars|facts|drive_missing)$/;

/** Escapes a field's name for a query, a sort order and a list of fields: the last two are split at commas. */
export function escapeName(name: string): string {
  return name.replace(/[\\+\-!():^[\]"{}~*?|&;,/\s]/g, '\\$&');
}

export function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}
