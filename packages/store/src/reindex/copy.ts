import { AkinError, Double, documentFromJson, type FieldValue, formatLocation, stringifyJson } from '@akin/domain';
import { type Accepted, type Change, stageChanges } from '../accept/staging.ts';
import { loadSchema } from '../collections/schema.ts';
import type { Collection, Store } from '../context.ts';
import { type ExportedDocument, readExported } from '../export/export-documents.ts';
import { visible, withSnapshot } from '../search/snapshot.ts';
import type { MissingDocument } from './state.ts';

/** What became of some documents on their way into the collection that takes the place. */
export interface Copied extends Accepted {
  /** Those whose pictures are analyzed again. */
  readonly analyzed: number;
  readonly missing: readonly MissingDocument[];
}

type Outputs = Pick<ExportedDocument, 'outputs' | 'thumbnail'>;

/**
 * Accepts documents in another collection, and deletes. Outputs that today's models take come along; where they do not,
 * those of the same id in a third collection; where there are none, the picture is analyzed again.
 *
 * @param allowMissing copies those too that would need their picture and have no address
 */
export async function copyDocuments(
  store: Store,
  target: Collection,
  documents: readonly ExportedDocument[],
  deleted: readonly string[],
  { allowMissing, outputsFrom }: { readonly allowMissing: boolean; readonly outputsFrom?: Collection | undefined },
): Promise<Copied> {
  const { fields: schema } = await loadSchema(store, target);
  const changes: Change[] = deleted.map((id) => ({ kind: 'delete', id }));
  const missing: MissingDocument[] = [];
  const ids = documents.map(({ fields }) => String(fields.get('id')));
  const others = outputsFrom === undefined ? new Map<string, Outputs>() : await outputsOf(store, outputsFrom, ids);
  let analyzed = 0;
  for (const { fields, version: keptVersion, ...own } of documents) {
    const id = String(fields.get('id'));
    try {
      const document = documentFromJson(jsonOf(fields), schema);
      const image = document.fields.get('image');
      const tried = tryOutputs(store, own);
      const problem = tried instanceof AkinError ? tried : undefined;
      const other = others.get(id);
      const taken = isTaken(tried) || other === undefined ? tried : tryOutputs(store, other);
      if (isTaken(taken)) {
        changes.push({ kind: 'add', document: { ...document, ...taken.parts }, ...taken.read, keptVersion });
      } else if (typeof image === 'string' && /^https?:/i.test(image)) {
        analyzed++;
        changes.push({ kind: 'add', document, keptVersion });
      } else if (problem === undefined) changes.push({ kind: 'add', document, keptVersion });
      else {
        missing.push({
          id,
          code: problem.code,
          msg: `${problem.message} It has no address to fetch its picture from: if that came from a folder, name the folder to akin reindex.`,
        });
        if (allowMissing) changes.push({ kind: 'add', document: withoutAddress(document), keptVersion });
      }
    } catch (error) {
      if (!(error instanceof AkinError)) throw error;
      missing.push({ id, code: error.code, msg: error.message });
    }
  }
  const staging = stageChanges(store, target);
  try {
    await staging.add(changes);
    return { ...(await staging.accept()), analyzed, missing };
  } catch (error) {
    await staging.discard();
    throw error;
  }
}

/** An address that is none would be taken for a picture to analyze. */
function withoutAddress<Document extends { readonly fields: ReadonlyMap<string, FieldValue> }>(document: Document) {
  const fields = new Map(document.fields);
  fields.delete('image');
  return { ...document, fields };
}

/** What comes along of an analysis, or why today's models do not take it; undefined where there was none. */
function tryOutputs(store: Store, { outputs, thumbnail }: Outputs) {
  if (outputs === null) return undefined;
  try {
    const { mark } = store.parseOutputs(outputs);
    const parts = { import: outputs, ...(thumbnail === null ? {} : { thumbnail }) };
    return { parts, read: mark === undefined ? {} : { mark } };
  } catch (error) {
    if (error instanceof AkinError) return error;
    throw error;
  }
}

function isTaken<Tried>(tried: Tried): tried is Exclude<Tried, AkinError | undefined> {
  return tried !== undefined && !(tried instanceof AkinError);
}

/** What a collection shows for some ids. */
async function outputsOf(store: Store, collection: Collection, ids: readonly string[]): Promise<Map<string, Outputs>> {
  return withSnapshot(store, collection, async (snapshot) => {
    const rows = await snapshot.tx.query<{ doc: bigint }>(
      `select d.doc from ${snapshot.sqlSchema}.documents d where d.id = any($1::text[]) and ${visible('$2::int8')}`,
      [ids, snapshot.commit],
    );
    const docs = rows.map(({ doc }) => doc);
    const found = await readExported(store, snapshot, docs);
    return new Map(found.map(({ document }) => [String(document.fields.get('id')), document]));
  });
}

/** A document as it would be sent, so that each value can take the type that its field has now. */
function jsonOf(fields: ReadonlyMap<string, FieldValue>): string {
  return stringifyJson(new Map([...fields].map(([name, value]) => [name, sentValue(value)])));
}

function sentValue(value: FieldValue): unknown {
  if (typeof value === 'number') return new Double(value);
  if (typeof value !== 'object' || value instanceof Date) return value;
  return 'lat' in value ? formatLocation(value) : value;
}
