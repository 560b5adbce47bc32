/** A part of an XML body: text for the parser, or the place of a document that is left out, or line ends in it. */
export type XmlPart = { readonly text: string } | { readonly oversized: true } | { readonly skippedLines: number };

/** Beginnings of markup, and their ends. The last one is a tag. */
const MARKUP: readonly (readonly [begin: string, end: string])[] = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
  ['<', '>'],
];
/** After so many characters it is known which one it is. */
const LOOK_AHEAD = 9;

/**
 * Cuts an XML body before and after each `<doc>`, so that one with too many characters is left out before it is parsed.
 * Memory is bounded by that limit. Whether the XML is well-formed is for the parser to say.
 */
export class XmlDocuments {
  readonly #maxCharacters: number;
  /** The end of the text so far, whose meaning depends on what follows. */
  #rest = '';
  /** What ends the current markup, or a quoted part of a tag. Undefined in text. */
  #until: string | undefined;
  /** Whether the current tag begins the document, or ends it. */
  #tag: 'begin' | 'end' | undefined;
  #lastCharacter = '';
  /** The document so far. Undefined outside of documents. */
  #document: string | undefined;
  #isOversized = false;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  *push(text: string): Generator<XmlPart> {
    const all = this.#rest + text;
    let from = 0;
    let at = 0;
    while (at < all.length) {
      if (this.#until === undefined) {
        const open = all.indexOf('<', at);
        at = open < 0 ? all.length : open;
        if (all.length - at < LOOK_AHEAD) break;
        const tag = all.slice(at, at + 6);
        this.#tag = /^<\/doc[\s>]/.test(tag) ? 'end' : undefined;
        if (/^<doc[\s/>]/.test(tag) && this.#document === undefined) {
          yield* this.#take(all.slice(from, at));
          from = at;
          this.#document = '';
          this.#tag = 'begin';
        }
        const [begin, end] = MARKUP.find(([begin]) => all.startsWith(begin, at)) ?? ['<', '>'];
        this.#until = end;
        at += begin.length;
      } else if (this.#until === '>') {
        TAG_SYNTAX.lastIndex = at;
        const found = TAG_SYNTAX.exec(all);
        at = found ? found.index + 1 : all.length;
        if (found === null) break;
        if (found[0] !== '>') {
          this.#until = found[0];
          continue;
        }
        this.#until = undefined;
        const isEmpty = (all[at - 2] ?? this.#lastCharacter) === '/';
        if (this.#tag !== 'end' && !(this.#tag === 'begin' && isEmpty)) continue;
        yield* this.#take(all.slice(from, at));
        from = at;
        yield* this.#endDocument();
      } else {
        const end = all.indexOf(this.#until, at);
        at = end < 0 ? Math.max(at, all.length - this.#until.length + 1) : end + this.#until.length;
        if (end < 0) break;
        this.#until = this.#until.length === 1 ? '>' : undefined;
      }
    }
    yield* this.#take(all.slice(from, at));
    this.#rest = all.slice(at);
    this.#lastCharacter = all[at - 1] ?? '';
  }

  /** Call this after the last text. */
  *end(): Generator<XmlPart> {
    yield* this.#take(this.#rest);
    yield* this.#endDocument();
  }

  *#take(text: string): Generator<XmlPart> {
    if (this.#document === undefined) {
      if (text !== '') yield { text };
    } else if (this.#isOversized) {
      yield { skippedLines: countLineEnds(text) };
    } else {
      this.#document += text;
      if (this.#document.length <= this.#maxCharacters) return;
      yield { oversized: true };
      yield { skippedLines: countLineEnds(this.#document) };
      this.#isOversized = true;
      this.#document = '';
    }
  }

  *#endDocument(): Generator<XmlPart> {
    if (this.#document !== undefined && !this.#isOversized) yield { text: this.#document };
    this.#document = undefined;
    this.#isOversized = false;
  }
}

const TAG_SYNTAX = /["'>]/g;

/** Without a regular expression: V8 stops optimizing those of long-lived processes, which then fail on long lines. */
function countLineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
