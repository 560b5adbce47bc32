import { AkinError, badRequest, isModifier, JsonNumber, JsonObject, type JsonValue } from '@akin/domain';
import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { parseFlag } from '../parameters/parse-flag.ts';
import { type Command, type InvalidCommand, overwriteError, rollbackError } from '../update/read-commands.ts';
import { guessXmlValue } from './xml-value.ts';

type Attributes = Readonly<Record<string, string>>;

/** Maximum number of characters of one document or command: as many as bytes in JSON. */
export const MAX_CHARACTERS = 8 * 1024 * 1024;
/** Known elements have a few at most. */
const MAX_ATTRIBUTES = 32;

/** Elements that only contain others. SolrJ's concurrent client sends the second one. */
const CONTAINERS: readonly string[] = ['update', 'stream'];
const COMMANDS = ['add', 'delete', 'commit', 'optimize', 'rollback'];

/** The allowed elements in each, by name. Elements that are not listed contain text or nothing. */
const CHILDREN: Readonly<Record<string, readonly string[]>> = {
  update: COMMANDS,
  stream: COMMANDS,
  add: ['doc'],
  doc: ['field'],
  delete: ['id', 'query'],
};

/** Elements whose text is used. */
const TEXTS: readonly string[] = ['field', 'id', 'query'];

/** The synchronous core of `readXmlCommands`: text in, commands out. */
export class XmlCommands {
  readonly #parser = new SaxesParser();
  readonly #path: string[] = [];
  #done: Command[] = [];
  #blank = true;
  /** Number of characters since the last finished command. */
  #held = 0;
  #position = 0;
  #text = '';
  #field = '';
  #update: string | undefined;
  #absent = false;
  #version: { readonly version?: string } = {};
  #members: [string, JsonValue][] = [];
  /** What is wrong with the document, although the XML can be read. */
  #problem: AkinError | undefined;

  constructor() {
    this.#parser.on('error', (error) => {
      throw this.#error(error.message.replace(/^\d+:\d+: /, '').replace(/\.$/, ''));
    });
    this.#parser.on('doctype', () => {
      throw this.#error(
        'document types are not allowed; leave out <!DOCTYPE …>, and write characters without entities',
      );
    });
    this.#parser.on('xmldecl', ({ encoding }) => {
      if (encoding === undefined || /^(utf-?8|us-ascii|ascii)$/i.test(encoding)) return;
      throw new AkinError('unsupported-media-type', `akin does not read an XML body in ${encoding}: send UTF-8.`);
    });
    let attributes = 0;
    this.#parser.on('opentagstart', () => {
      attributes = 0;
    });
    this.#parser.on('attribute', () => {
      if (++attributes > MAX_ATTRIBUTES) throw this.#error(`an element has more than ${MAX_ATTRIBUTES} attributes`);
    });
    this.#parser.on('opentag', (tag) => this.#open(tag));
    this.#parser.on('closetag', ({ name }) => this.#close(name));
    this.#parser.on('text', (text) => this.#take(text));
    this.#parser.on('cdata', (text) => this.#take(text));
  }

  /** @returns the commands that the text completes */
  write(text: string): Command[] {
    this.#held += text.length;
    // A body without bytes, or of blanks only, contains nothing.
    const blank = this.#blank && text.trim() === '';
    if (!blank) {
      this.#blank = false;
      this.#parser.write(text);
    }
    if (this.#held > MAX_CHARACTERS) {
      throw new AkinError(
        'too-large',
        `The command that ends at ${this.#shownPosition()} has more than ${MAX_CHARACTERS} characters, which is the limit: split it.`,
      );
    }
    const done = this.#done;
    this.#done = [];
    return done;
  }

  /** The command of a document that is not written, because it has too many characters. */
  leaveOut(): Command {
    const position = this.#position++;
    const msg = `The document at position ${position} has more than ${MAX_CHARACTERS} characters, which is the limit for one document. Send less in it.`;
    return { kind: 'invalid', change: 'add', position, error: new AkinError('too-large', msg) };
  }

  /** Later positions in errors are those in the body, which has more lines than were written. */
  skipLines(count: number): void {
    this.#parser.line += count;
  }

  /** Call this after the last text. */
  end(): Command[] {
    if (!this.#blank) this.#parser.close();
    return this.#done;
  }

  #open({ name, attributes }: SaxesTagPlain): void {
    const parent = this.#path.at(-1);
    const allowed = parent === undefined ? [...CONTAINERS, ...COMMANDS] : (CHILDREN[parent] ?? []);
    if (!allowed.includes(name)) throw this.#misplaced(name, parent, allowed);
    this.#path.push(name);
    this.#text = '';
    switch (name) {
      case 'add':
        if (this.#flag('overwrite', attributes) === false) throw overwriteError();
        this.#within(attributes);
        return;
      case 'delete':
        this.#within(attributes);
        return;
      case 'doc':
        this.#held = 0;
        this.#members = [];
        this.#problem = undefined;
        this.#boost(attributes);
        return;
      case 'field':
        try {
          this.#openField(attributes);
        } catch (error) {
          if (!(error instanceof AkinError)) throw error;
          this.#problem ??= error;
        }
        return;
      case 'id':
        this.#version = attributes.version === undefined ? {} : { version: attributes.version };
        return;
      case 'commit':
      case 'optimize':
        this.#add({
          kind: 'commit',
          openSearcher: this.#flag('openSearcher', attributes),
          waitSearcher: this.#flag('waitSearcher', attributes),
        });
        return;
      case 'rollback':
        throw rollbackError();
    }
  }

  #openField(attributes: Attributes): void {
    const { name = '', update } = attributes;
    this.#field = name;
    this.#update = update;
    if (name === '') throw this.#error('<field> needs a name: <field name="title">…</field>');
    if (update !== undefined && !isModifier(new JsonObject([[update, null]]))) {
      throw this.#error(`update="${update.slice(0, 60)}" is not possible: use set, add, add-distinct, remove or inc`);
    }
    this.#absent = this.#flag('null', attributes) === true;
    this.#boost(attributes);
  }

  #close(name: string): void {
    this.#path.pop();
    switch (name) {
      case 'field':
        // XML has no null: clients send an empty element instead.
        if (this.#update !== undefined)
          this.#members.push([this.#field, new JsonObject([[this.#update, this.#value()]])]);
        else if (this.#value() !== null) this.#members.push([this.#field, this.#value()]);
        return;
      case 'doc':
        this.#addDocument(new JsonObject(this.#members));
        this.#members = [];
        return;
      case 'id':
        if (this.#text === '') this.#addInvalid('delete', this.#error('<id> is empty'));
        else this.#add({ kind: 'delete', position: this.#position++, id: this.#text, ...this.#version });
        return;
      case 'query':
        if (this.#text.trim() === '') this.#addInvalid('delete-by-query', this.#error('<query> is empty'));
        else this.#add({ kind: 'delete-by-query', position: this.#position++, query: this.#text });
    }
  }

  #addDocument(json: JsonObject): void {
    if (this.#problem === undefined) {
      this.#add({ kind: 'add', position: this.#position++, json });
      return;
    }
    const value = json.get('id');
    const id = value instanceof JsonNumber ? value.text : value;
    this.#addInvalid('add', this.#problem, typeof id === 'string' ? { id } : {});
  }

  #addInvalid(change: InvalidCommand['change'], error: AkinError, named: { readonly id?: string } = {}): void {
    this.#add({ kind: 'invalid', change, position: this.#position++, error, ...named });
  }

  #value(): JsonValue {
    return this.#absent || this.#text === '' ? null : guessXmlValue(this.#text);
  }

  #take(text: string): void {
    const element = this.#path.at(-1);
    if (element !== undefined && TEXTS.includes(element)) this.#text += text;
    else if (text.trim() !== '') throw this.#error(`<${element}> contains text, but only elements are allowed in it`);
  }

  #add(command: Command): void {
    this.#done.push(command);
    this.#held = 0;
  }

  #within({ commitWithin }: Attributes): void {
    if (commitWithin === undefined || commitWithin === '') return;
    if (!/^-?\d{1,15}$/.test(commitWithin)) throw this.#error('commitWithin must be a whole number of milliseconds');
    const milliseconds = Number(commitWithin);
    // Solr's clients send -1 for "not requested".
    if (milliseconds >= 0) this.#add({ kind: 'commit', within: milliseconds });
  }

  /** All documents have the same weight. Old clients always send 1. */
  #boost({ boost }: Attributes): void {
    if (boost === undefined || Number(boost) === 1) return;
    this.#done.push({ kind: 'warning', msg: 'boost is ignored: use boosts in the query, for example title:shoe^2.' });
  }

  #flag(name: string, attributes: Attributes): boolean | undefined {
    const value = attributes[name];
    if (value === undefined) return undefined;
    const flag = parseFlag(value);
    if (flag === undefined) throw this.#error(`${name} must be true or false`);
    return flag;
  }

  #misplaced(name: string, parent: string | undefined, allowed: readonly string[]): AkinError {
    const shown = `<${name.slice(0, 60)}>`;
    if (parent === 'doc' && name === 'doc') return this.#error('a document cannot contain documents');
    const where = parent === undefined ? 'at the top' : `in <${parent}>`;
    const expected =
      allowed.length === 0 ? 'no element at all' : `one of ${allowed.map((one) => `<${one}>`).join(', ')}`;
    return this.#error(`${shown} is ${where}, where ${expected} is expected`);
  }

  #shownPosition(): string {
    return `line ${this.#parser.line}, column ${this.#parser.column}`;
  }

  #error(problem: string): AkinError {
    return badRequest(`The XML cannot be read at ${this.#shownPosition()}: ${problem}.`);
  }
}
