import {
  AkinError,
  Double,
  documentFromJson,
  type FieldValue,
  formatLocation,
  type ModuleManifest,
  stringifyJson,
} from '@akin/domain';
import type { Change } from '../../changes/accept/staged-rows.ts';
import { type AcceptedRange, Staging } from '../../changes/accept/staging.ts';
import type { Store } from '../../changes/context.ts';
import { appliedModules, modelSetOf } from '../../database/collections/model-set.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import type { Collection, CollectionSchema } from '../../database/context.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import type { ModelSet, ParsedOutputs } from '../../database/model-sets.ts';
import { readAnalysis } from '../../database/outputs/pending-analysis.ts';
import type { ExportedDocument } from '../../search/export/export-documents.ts';
import { type FilePlace, placeOf } from '../../search/stored-picture.ts';
import { documentsOf } from './changes.ts';
import type { MissingDocument } from './state.ts';

export interface CopyResult extends AcceptedRange {
  /** Number of documents whose pictures are analyzed again. */
  readonly analyzed: number;
  /** How many of these have only their thumbnail. */
  readonly thumbnails: number;
  readonly missing: readonly MissingDocument[];
}

type Outputs = Pick<ExportedDocument, 'outputs' | 'thumbnail'>;

/** The picture of a document, for a process that may read its original file, or else has its thumbnail. */
export interface PictureToAnalyze extends Outputs {
  readonly id: string;
  readonly place: FilePlace | undefined;
  /** The modules whose outputs are missing, while those of the others stay. Undefined: outputs are of other models. */
  readonly added?: { readonly modules: readonly string[]; readonly address: string | undefined } | undefined;
}

/**
 * Analyzes a picture with other models.
 *
 * @returns outputs, and a thumbnail if there is a new one; undefined if there is nothing to analyze
 * @throws AkinError the problem of the picture
 */
export type Reanalyze = (
  picture: PictureToAnalyze,
  models: ModelSet,
  signal: AbortSignal,
) => Promise<
  { readonly outputs: string; readonly thumbnail?: Uint8Array | undefined; readonly fromThumbnail: boolean } | undefined
>;

export interface CopyOptions {
  /** Also copies documents whose picture is needed and missing. */
  readonly allowMissing: boolean;
  readonly outputsFrom?: Collection | undefined;
  readonly reanalyze?: Reanalyze | undefined;
  /** Whether these are documents whose pictures could not be fetched from their URLs. */
  readonly unreachable?: boolean;
  /** Rejects if this process may no longer write into the target. */
  readonly guard: (tx: Queryable) => Promise<void>;
  readonly signal: AbortSignal;
}

const CONCURRENT_COPIES = 8;

/**
 * Accepts documents in another collection, and deletes. Outputs that its models accept are copied; otherwise those of
 * the same id in a third collection. Without either, the picture is analyzed again: from its URL, from the folder that
 * it came from, or else from the thumbnail.
 */
export async function copyDocuments(
  store: Store,
  target: Collection,
  documents: readonly ExportedDocument[],
  deleted: readonly string[],
  options: CopyOptions,
): Promise<CopyResult> {
  const schema = await loadSchema(store, target);
  const changes: Change[] = deleted.map((id) => ({ kind: 'delete', id }));
  const ids = documents.map(({ fields }) => String(fields.get('id')));
  const others = new Map<string, Outputs>();
  if (options.outputsFrom !== undefined) {
    for (const one of await documentsOf(store, options.outputsFrom, ids)) others.set(String(one.fields.get('id')), one);
  }
  const applied = appliedModules(store, target) ?? [];
  const withPoints = store.modules.filter(({ name, points }) => points !== undefined && applied.includes(name));
  const copies: Copy[] = [];
  const left = documents.values();
  const copyUntilEmpty = async () => {
    for (const document of left) copies.push(await copyOf(document, store, schema, others, withPoints, options));
  };
  await Promise.all(Array.from({ length: CONCURRENT_COPIES }, copyUntilEmpty));
  for (const { change } of copies) if (change !== undefined) changes.push(change);
  options.signal.throwIfAborted();
  const staging = new Staging(store, target, { guard: options.guard });
  try {
    await staging.add(changes);
    return {
      ...(await staging.accept()),
      analyzed: copies.filter(({ analyzed }) => analyzed !== undefined).length,
      thumbnails: copies.filter(({ analyzed }) => analyzed === 'thumbnail').length,
      missing: copies.flatMap(({ missing }) => missing ?? []),
    };
  } catch (error) {
    await staging.discard();
    throw error;
  }
}

interface Copy {
  readonly change?: Change;
  readonly analyzed?: 'original' | 'thumbnail';
  readonly missing?: MissingDocument;
}

async function copyOf(
  { fields, version: keptVersion, ...own }: ExportedDocument,
  store: Store,
  schema: CollectionSchema,
  others: ReadonlyMap<string, Outputs>,
  withPoints: readonly ModuleManifest[],
  { allowMissing, reanalyze, unreachable = false, signal }: CopyOptions,
): Promise<Copy> {
  const id = String(fields.get('id'));
  const models = modelSetOf(store, schema);
  try {
    const { import: _, ...document } = documentFromJson(jsonOf(fields), schema.fields);
    const image = document.fields.get('image');
    const { usable: kept, problem } = tryOutputs(models, own);
    const other = kept === undefined ? others.get(id) : undefined;
    const usable = kept ?? (other && tryOutputs(models, other).usable);
    const address = typeof image === 'string' && /^https?:/i.test(image) ? image : undefined;
    const place = placeOf(id, (field) => document.fields.get(field));
    if (usable !== undefined) {
      const modules = withPoints.flatMap(({ name, points = '' }) => (usable.outputs.fields.has(points) ? [] : [name]));
      const picture = { ...(other ?? own), id, place, added: { modules, address } };
      const more = modules.length === 0 ? undefined : await addOutputs(picture, models, reanalyze, signal);
      const outputs = more?.outputs ?? usable.outputs;
      return {
        change: { kind: 'add', document: { ...document, ...usable.picture }, outputs, keptVersion },
        ...(more && { analyzed: more.analyzed }),
      };
    }
    if (address !== undefined && !unreachable) {
      return { change: { kind: 'add', document, keptVersion }, analyzed: 'original' };
    }
    if (problem === undefined && !unreachable) return { change: { kind: 'add', document, keptVersion } };
    const again = await reanalyze?.({ ...own, id, place }, models, signal);
    if (again !== undefined) {
      const tried = tryOutputs(models, { outputs: again.outputs, thumbnail: again.thumbnail ?? own.thumbnail });
      if (tried.usable === undefined) throw tried.problem;
      const { picture, outputs } = tried.usable;
      return {
        change: { kind: 'add', document: { ...document, ...picture }, outputs, keptVersion },
        analyzed: again.fromThumbnail ? 'thumbnail' : 'original',
      };
    }
    const missing = {
      id,
      code: problem?.code ?? 'image-unreachable',
      msg: `${problem?.message ?? 'Its picture could not be fetched.'} It has no address to fetch its picture from, no file and no thumbnail: if the picture came from a folder, run akin reindex with the folder.`,
    };
    if (!allowMissing) return { missing };
    return { missing, change: { kind: 'add', document: withoutAddress(document), keptVersion } };
  } catch (error) {
    if (!(error instanceof AkinError)) throw error;
    return { missing: { id, code: error.code, msg: error.message } };
  }
}

/** Outputs with those of more modules. @returns undefined if its picture cannot be analyzed: then it stays as it is */
async function addOutputs(
  picture: PictureToAnalyze,
  models: ModelSet,
  reanalyze: Reanalyze | undefined,
  signal: AbortSignal,
): Promise<{ readonly outputs: ParsedOutputs; readonly analyzed: 'original' | 'thumbnail' } | undefined> {
  try {
    const again = await reanalyze?.(picture, models, signal);
    const usable = again && tryOutputs(models, { outputs: again.outputs, thumbnail: null }).usable;
    return usable && { outputs: usable.outputs, analyzed: again.fromThumbnail ? 'thumbnail' : 'original' };
  } catch (error) {
    if (signal.aborted || !(error instanceof AkinError)) throw error;
    return undefined;
  }
}

/** Text that is not a URL would be used as a picture to analyze. */
function withoutAddress<Document extends { readonly fields: ReadonlyMap<string, FieldValue> }>(document: Document) {
  const fields = new Map(document.fields);
  fields.delete('image');
  return { ...document, fields };
}

/** Whether the models of a collection accept the outputs of a change that is pending in another. */
export function acceptsPending(store: Store, { models }: CollectionSchema): (analysis: string) => boolean {
  return (analysis) =>
    Array.from(readAnalysis(analysis, store.modules).models).every(
      ([module, model]) => (models.get(module) ?? model) === model,
    );
}

interface Tried {
  readonly usable?: { readonly outputs: ParsedOutputs; readonly picture: { readonly thumbnail?: Uint8Array } };
  readonly problem?: AkinError;
}

/** The reusable part of an analysis, or why the present models do not accept it. Neither if there was none. */
function tryOutputs({ parseOutputs }: ModelSet, { outputs, thumbnail }: Outputs): Tried {
  if (outputs === null) return {};
  try {
    return { usable: { outputs: parseOutputs(outputs), picture: thumbnail === null ? {} : { thumbnail } } };
  } catch (error) {
    if (error instanceof AkinError) return { problem: error };
    throw error;
  }
}

/** A document as it would be sent, so that each value gets the type that its field has now. */
function jsonOf(fields: ReadonlyMap<string, FieldValue>): string {
  return stringifyJson(new Map([...fields].map(([name, value]) => [name, sentValue(value)])));
}

function sentValue(value: FieldValue): unknown {
  if (typeof value === 'number') return new Double(value);
  if (typeof value !== 'object' || value instanceof Date) return value;
  return 'lat' in value ? formatLocation(value) : value;
}
