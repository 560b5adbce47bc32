/**
 * Says why a text cannot be stored, or returns null. JSON allows NUL and lone surrogates, PostgreSQL does not; they are
 * rejected when a document is accepted, before any commit.
 */
export function unstorableReason(text: string): string | null {
  if (text.includes('\0')) return 'the character NUL (U+0000)';
  return isWellFormed.call(text) ? null : 'half of a surrogate pair';
}

/** Faster than a regular expression. TypeScript knows this function of ES2024 only as a member of newer libraries. */
const { isWellFormed } = String.prototype as unknown as { isWellFormed: (this: string) => boolean };

/** Length of a text in bytes of UTF-8. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x800) length += 2;
    else if (unit >= 0x80) length += 1;
    // A surrogate pair has four bytes, but its two units were counted as three each.
    if (unit >= 0xd800 && unit <= 0xdfff) length -= 1;
  }
  return length;
}

/** Quotes a text for a message and cuts it after 60 characters. */
export function quote(text: string): string {
  const characters = text.slice(0, 130).match(/./gsu) ?? [];
  const cut = characters.length > 60 || text.length > 130;
  return JSON.stringify(cut ? `${characters.slice(0, 60).join('')}…` : text);
}

/** Copies a text that was cut from a larger one. Without the copy, V8 would keep the larger text in memory. */
export function copyString(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/** Removes the backslashes that escape characters. */
export function unescapeBackslashes(text: string): string {
  return text.replace(/\\(.)/gsu, '$1');
}
