/**
 * Parses a URL. Does not use `URL.canParse`: in Node 20, that function refuses every URL with a letter such as ü as soon
 * as V8 has optimized its caller.
 *
 * @returns undefined for an invalid URL
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
