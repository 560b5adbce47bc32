/** A field's name as queries take it. */
export function escapeName(name: string): string {
  return name.replace(/[\\+\-!():^[\]"{}~*?|&;/\s]/g, '\\$&');
}

/** The name that was escaped. */
export function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}
