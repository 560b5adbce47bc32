/**
 * What keeps a text from being stored, or null. JSON allows both, PostgreSQL neither; they are refused when a document
 * is accepted, never found out inside a commit.
 */
export function unstorable(text: string): string | null {
  if (text.includes('\0')) return 'the character NUL (U+0000)';
  return /\p{Surrogate}/u.test(text) ? 'half of a surrogate pair' : null;
}

/** Bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x800) length += 2;
    else if (unit >= 0x80) length += 1;
    // A pair has four bytes: two more than its two units, of which the first counted two too many already.
    if (unit >= 0xd800 && unit <= 0xdfff) length -= 1;
  }
  return length;
}

/** A text in quotes for a message, cut after 60 characters. */
export function quote(text: string): string {
  const characters = text.slice(0, 130).match(/./gsu) ?? [];
  const cut = characters.length > 60 || text.length > 130;
  return JSON.stringify(cut ? `${characters.slice(0, 60).join('')}…` : text);
}

/** The same text without ties to the larger one that it was cut from, which the engine would keep in memory with it. */
export function detach(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/** A text without its escapes: a backslash stands before a character that means itself. */
export function unescapeBackslashes(text: string): string {
  return text.replace(/\\(.)/gsu, '$1');
}
