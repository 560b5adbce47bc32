/** Limits of texts from files: what is longer is cut. */
const MAX_LINE = 500;
const MAX_TEXT = 5_000;
const MAX_KEYWORDS = 200;
const MAX_KEYWORD = 200;

/** One line of text; undefined if nothing is left. Control characters and damaged letters become blanks. */
export function cleanLine(text: string | undefined, max = MAX_LINE): string | undefined {
  return cut(text?.replace(/[\p{Cc}\p{Cs}\ufffd]/gu, ' ').replace(/\s+/g, ' '), max);
}

/** As `cleanLine`, for texts of several lines. */
export function cleanText(text: string | undefined): string | undefined {
  return cut(
    text
      ?.replace(/\r\n?/g, '\n')
      .replace(/[^\P{Cc}\n]|[\p{Cs}\ufffd]/gu, ' ')
      .replace(/[^\S\n]+/g, ' '),
    MAX_TEXT,
  );
}

/** Keywords in their order, each once, cut to reasonable lengths. A semicolon separates keywords everywhere. */
export function cleanKeywords(keywords: readonly string[]): string[] {
  const parts = keywords.slice(0, MAX_KEYWORDS).flatMap((keyword) => keyword.slice(0, MAX_TEXT).split(';'));
  const lines = parts.flatMap((part) => cleanLine(part, MAX_KEYWORD) ?? []);
  return [...new Set(lines)].slice(0, MAX_KEYWORDS);
}

function cut(text: string | undefined, max: number): string | undefined {
  const trimmed = text?.trim() ?? '';
  const short = trimmed.length > max ? [...trimmed.slice(0, max + 1)].slice(0, -1).join('').trim() : trimmed;
  return short === '' ? undefined : short;
}
