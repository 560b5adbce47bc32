/** Escapes a field's name for a query. */
export function escapeName(name: string): string {
  return name.replace(/[\\+\-!():^[\]"{}~*?|&;/\s]/g, '\\$&');
}

/** Undoes `escapeName`. */
export function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}
