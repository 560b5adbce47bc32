import {
  AkinError,
  badRequest,
  type ErrorDetail,
  MAX_ID_BYTES,
  type NewDocument,
  parseId,
  parseQuery,
  parseVersion,
  quote,
  TypeClaims,
  utf8Length,
  validateDocument,
} from '@akin/domain';
import { createYielder } from '@akin/runtime';
import { type Change, checkDelete, type RequestOrigin, Staging } from '@akin/store/changes';
import { type Collection, loadSchema, type ModelSet, modelSetOf, requireOwnModels } from '@akin/store/database';
import { SMALL_REQUEST } from '../admission/backlog-quota.ts';
import type { Context } from '../context.ts';
import { warnAboutDates } from '../search/warn-about-dates.ts';
import { BodyPlaces } from './body-places.ts';
import type { Command, CommitCommand, InvalidCommand, WarningCommand } from './read-commands.ts';
import { normalizeThumbnail } from './thumbnail.ts';

/** Maximum number of documents of a request whose versions are returned. */
const MAX_VERSIONS = 100_000;
/** Maximum number of changes that are left out and listed, and maximum bytes of the list. More are counted. */
const MAX_LEFT_OUT = 10_000;
const MAX_LEFT_OUT_BYTES = 4 * 1024 * 1024;
/** Maximum bytes of a message in this list. */
const MAX_MESSAGE_BYTES = 1024;

type ChangeCommand = Exclude<Command, CommitCommand | InvalidCommand | WarningCommand>;

const TYPES = { add: 'ADD', delete: 'DELID', 'delete-by-query': 'DELQ' } as const;

/** A change that is left out, as Solr's tolerant update processor lists it. */
interface LeftOut {
  readonly type: (typeof TYPES)[keyof typeof TYPES];
  /** Solr's clients need one. The beginning of a longer one, or of a query. */
  readonly id: string;
  /** In the body, from 0. */
  readonly position: number;
  readonly message: string;
}

/** A request whose changes are written and not accepted yet. */
export interface StagedBody {
  /** Undefined if the body contains no change. */
  readonly staging: Staging | undefined;
  readonly commits: readonly CommitCommand[];
  readonly warnings: ReadonlySet<string>;
  /** The number of changes, and how many of them have a picture to analyze. */
  readonly count: number;
  readonly pictures: number;
  /** Ids of documents, each with its position among the changes. Empty if no versions were requested. */
  readonly ids: readonly { readonly id: string; readonly index: number }[];
  /** Empty without `maxErrors`. */
  readonly leftOut: readonly LeftOut[];
  readonly places: BodyPlaces;
  /** Call this once the request is accepted: others may be waiting for its slot. */
  releaseSlot(): void;
  /** Releases the slot, and removes what was staged. Call this if the request is refused. */
  discard(): void;
}

interface StagingOptions {
  readonly modules: readonly string[] | undefined;
  readonly tombstones: boolean;
  /** Expected version of changes without their own. */
  readonly expectedVersion: bigint | undefined;
  /** Whether ids of documents are kept, so that the response can contain their versions. */
  readonly versions: boolean;
  /** Up to this number of changes that cannot be taken are left out. Undefined: none; negative: any number. */
  readonly maxErrors: number | undefined;
  readonly origin: RequestOrigin;
}

/**
 * Checks every command as it arrives and stages the changes: only one batch is in memory, however long the body is.
 * After one invalid document too many nothing more is staged, but all are checked, so that the error lists them.
 *
 * @param options.modules the modules that analyze the pictures; undefined: all
 * @param options.tombstones whether its deletes leave tombstones
 * @throws AkinError bad-request with a detail for each invalid document; too-many-requests above the backlog quota;
 * conflict if the collection has other models; errors of reading the body. Nothing is left behind then.
 */
export async function stageBody(
  commands: AsyncIterable<Command>,
  collection: Collection,
  options: StagingOptions,
  signal: AbortSignal,
  context: Context,
): Promise<StagedBody> {
  const { modules } = options;
  const body = new CheckedBody(collection, options, signal, context);
  try {
    const schema = await loadSchema(context.store, collection);
    const claims = new TypeClaims();
    const yieldIfDue = createYielder();
    // Checked when the first document with outputs arrives.
    let modelsAreChecked = false;
    let models = modelSetOf(context.store, schema);
    for await (const command of commands) {
      if (command.kind === 'commit') body.commits.push(command);
      else if (command.kind === 'warning') body.warnings.add(command.msg);
      else if (command.kind === 'invalid') body.refuseUnreadable(command);
      else if (command.kind === 'add') {
        const result = validateDocument(command.json, command.position, schema.fields, claims);
        if ('errors' in result) body.refuse(command, result.errors);
        else {
          if (!modelsAreChecked && hasImportedOutputs(result.document)) {
            await requireOwnModels(context.store, collection, modules);
            modelsAreChecked = true;
            // An empty collection may have changed to the models of this process.
            models = modelSetOf(context.store, await loadSchema(context.store, collection));
          }
          const { expectedVersion } = options;
          const document = expectedVersion === undefined ? result.document : { expectedVersion, ...result.document };
          await body.check(command, async () => {
            const change = await addOf(document, modules, models, context);
            // Only now is it sure that the document is taken.
            claims.add(result.newTypes);
            for (const warning of result.warnings) body.warnings.add(warning);
            return change;
          });
        }
      } else {
        await body.check(command, () => {
          if (command.kind === 'delete') return deleteOf(command, options);
          checkDelete({ store: context.store, collection, schema }, command.query, claims.newFields());
          for (const one of warnAboutDates([parseQuery(command.query)], schema.fields)) body.warnings.add(one);
          return { kind: 'delete-by-query', query: command.query };
        });
      }
      await yieldIfDue();
    }
    await body.end();
  } catch (error) {
    body.discard();
    throw error;
  }
  return body;
}

/** A body while it arrives: its changes are staged until too many are invalid. */
class CheckedBody implements StagedBody {
  readonly commits: CommitCommand[] = [];
  readonly warnings = new Set<string>();
  staging: Staging | undefined;
  count = 0;
  readonly ids: { readonly id: string; readonly index: number }[] = [];
  pictures = 0;
  readonly places = new BodyPlaces();
  readonly leftOut: LeftOut[] = [];
  releaseSlot = () => {};
  #hasSlot = false;
  #leftOutBytes = 0;
  #utilization = performance.eventLoopUtilization();
  readonly #collection: Collection;
  readonly #context: Context;
  readonly #details: ErrorDetail[] = [];
  #refused = 0;
  readonly #options: StagingOptions;
  readonly #signal: AbortSignal;

  constructor(collection: Collection, options: StagingOptions, signal: AbortSignal, context: Context) {
    this.#collection = collection;
    this.#options = options;
    this.#signal = signal;
    this.#context = context;
  }

  /** Adds the change, or records its error. */
  async check(command: ChangeCommand, read: () => Change | Promise<Change>): Promise<void> {
    let change: Change;
    try {
      change = await read();
    } catch (error) {
      if (!(error instanceof AkinError)) throw error;
      this.refuse(command, [detailOf(error, command)]);
      return;
    }
    if (this.#refusesAll) return;
    if (command.kind === 'add') this.#keepId(change);
    if (++this.count > SMALL_REQUEST && !this.#hasSlot) {
      const { semaphores, client } = this.#context;
      this.releaseSlot = await semaphores.bulkUpdates.acquire(this.#signal, { client });
      this.#hasSlot = true;
    }
    const { origin, tombstones } = this.#options;
    this.staging ??= new Staging(this.#context.store, this.#collection, {
      ...origin,
      tombstones,
      onWrite: (write) => this.#write(write),
    });
    try {
      await this.staging.add([change]);
    } catch (error) {
      const isRefused = error instanceof AkinError && error.code === 'bad-request';
      if (!isRefused || command.kind !== 'delete-by-query') throw error;
      // The database cannot run the query, which staging finds out.
      this.count--;
      this.refuse(command, [detailOf(error, command)]);
      return;
    }
    this.places.note(this.count - 1, command);
    if (isAnalyzed(change)) this.pictures++;
  }

  /** @throws AkinError bad-request if there are too many to return their versions */
  #keepId(change: Change): void {
    if (!this.#options.versions || change.kind !== 'add') return;
    if (this.ids.length === MAX_VERSIONS) {
      throw badRequest(
        `versions=true returns the versions of at most ${MAX_VERSIONS} documents: send more in several requests.`,
      );
    }
    this.ids.push({ id: change.document.id, index: this.count });
  }

  refuse(command: ChangeCommand | InvalidCommand, errors: readonly ErrorDetail[]): void {
    this.#refused++;
    const line = command.kind === 'add' && command.line !== undefined ? `Line ${command.line}: ` : '';
    const details = errors.map((detail) => ({ ...detail, msg: `${line}${detail.msg}` }));
    const free = this.#context.limits.listedDetails - this.#details.length;
    this.#details.push(...details.slice(0, Math.max(0, free)));
    if (this.#options.maxErrors === undefined || this.leftOut.length === MAX_LEFT_OUT) return;
    const { position } = command;
    const type = TYPES[command.kind === 'invalid' ? command.change : command.kind];
    const id = command.kind === 'delete-by-query' ? command.query : (details[0]?.id ?? '(unknown)');
    const message = beginning(details.map(({ msg }) => msg).join(' '), MAX_MESSAGE_BYTES);
    const one = { type, id: beginning(id, MAX_ID_BYTES), position, message };
    this.#leftOutBytes += utf8Length(one.id) + utf8Length(message);
    if (this.#leftOutBytes <= MAX_LEFT_OUT_BYTES) this.leftOut.push(one);
  }

  /** @throws the error of the document, unless such documents are left out */
  refuseUnreadable(command: InvalidCommand): void {
    const { position, error, id } = command;
    if (this.#options.maxErrors === undefined) throw error;
    this.refuse(command, [{ position, code: error.code, msg: error.message, ...(id === undefined ? {} : { id }) }]);
  }

  get #refusesAll(): boolean {
    const { maxErrors = 0 } = this.#options;
    return maxErrors >= 0 && this.#refused > maxErrors;
  }

  async end(): Promise<void> {
    const unlisted = this.#options.maxErrors === undefined ? 0 : this.#refused - this.leftOut.length;
    if (unlisted > 0) this.warnings.add(`${unlisted} more documents or deletes are left out than errors lists.`);
    if (this.#refusesAll) {
      const [first] = this.#details;
      const more = this.#refused > 1 ? ` ${this.#refused} documents or deletes are wrong.` : '';
      throw badRequest(`${first?.msg ?? 'A document is wrong.'}${more} Nothing in the request was accepted.`, {
        details: this.#details,
      });
    }
    await this.staging?.flush();
  }

  /** Nobody waits for it. If the process ends first, the next start removes the rest. */
  discard(): void {
    this.releaseSlot();
    const { staging } = this;
    if (staging) this.#context.background('removing a refused request', () => staging.discard());
  }

  async #write(write: () => Promise<void>): Promise<void> {
    await this.#context.backlogQuota.require(this.#collection, this.count, this.pictures);
    // Reading and checking a large request keeps the event loop busy. Waiting for the client does not.
    const { active } = performance.eventLoopUtilization(this.#utilization);
    const began = performance.now();
    await write();
    const wrote = performance.now() - began;
    if (this.count > SMALL_REQUEST) await this.#context.store.throttle.pauseAfter(active + wrote);
    this.#utilization = performance.eventLoopUtilization();
  }
}

/** A copy of the text: as many whole characters as fit into this number of bytes. */
function beginning(text: string, bytes: number): string {
  const start = Buffer.from(text.slice(0, bytes)).subarray(0, bytes);
  // A character whose bytes are not all there is left out.
  return new TextDecoder().decode(start, { stream: true });
}

function deleteOf({ id, version }: Extract<Command, { kind: 'delete' }>, { expectedVersion }: StagingOptions): Change {
  const expected = version === undefined ? expectedVersion : parseVersion(version);
  return { kind: 'delete', id: parseId(id), ...(expected === undefined ? {} : { expectedVersion: expected }) };
}

/** Outputs are checked now, so that no commit finds them invalid. */
async function addOf(
  document: NewDocument,
  modules: readonly string[] | undefined,
  models: ModelSet,
  context: Context,
): Promise<Change> {
  const { import: outputs, ...own } = document;
  const { thumbnail } = own;
  return {
    kind: 'add',
    document: thumbnail === undefined ? own : { ...own, thumbnail: await normalizeThumbnail(thumbnail, context) },
    ...(modules === undefined ? {} : { modules }),
    ...(outputs === undefined ? {} : { outputs: readImport(outputs, models) }),
  };
}

/** Whether there is a descriptor, codes, or an output of a module without a descriptor. */
function describesPicture(fields: ReadonlyMap<string, unknown>, { modules }: ModelSet): boolean {
  return modules.some(({ name: module, descriptor, outputs }) =>
    descriptor === undefined
      ? outputs.some(({ name }) => fields.has(name))
      : [descriptor.output, ...['cluster', 'lopq', 'rerank'].map((code) => `${module}_${code}`)].some((name) =>
          fields.has(name),
        ),
  );
}

function readImport(text: string, models: ModelSet): ReturnType<ModelSet['parseOutputs']> {
  try {
    const outputs = models.parseOutputs(text);
    if (!describesPicture(outputs.fields, models)) {
      throw badRequest(
        'it holds nothing of a picture: send the text that /analyze answers as "outputs", with a descriptor such as "content_descriptor".',
      );
    }
    return outputs;
  } catch (error) {
    if (!(error instanceof AkinError)) throw error;
    throw new AkinError(error.code, `field "import": ${error.message}`, { cause: error });
  }
}

function detailOf(error: AkinError, command: ChangeCommand): ErrorDetail {
  const { position } = command;
  const id = command.kind === 'delete' ? command.id : command.kind === 'add' ? idOf(command.json) : undefined;
  const subject = command.kind === 'add' ? 'Document' : 'Delete';
  const named = id === undefined ? subject : `${subject} ${quote(id)}`;
  return {
    position,
    // A delete may have sent any text.
    ...(id === undefined || utf8Length(id) > MAX_ID_BYTES ? {} : { id }),
    code: error.code,
    msg: `${named} at position ${position}: ${error.message}`,
  };
}

function idOf(json: Extract<Command, { kind: 'add' }>['json']): string | undefined {
  const id = typeof json === 'object' && json !== null && 'get' in json ? json.get('id') : undefined;
  return id === undefined ? undefined : parseId(id);
}

function hasImportedOutputs({ import: outputs, fields }: NewDocument): boolean {
  return outputs !== undefined || fields.has('image');
}

function isAnalyzed(change: Change): boolean {
  return change.kind === 'add' && change.outputs === undefined && change.document.fields.has('image');
}
