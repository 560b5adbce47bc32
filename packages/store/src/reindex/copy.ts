import { AkinError, Double, documentFromJson, type FieldValue, formatLocation, stringifyJson } from '@akin/domain';
import type { Collection } from '../collections.ts';
import type { ExportedDocument } from '../export/export-documents.ts';
import { loadSchema } from '../schema.ts';
import { type Accepted, type Change, stageChanges } from '../staging.ts';
import type { Store } from '../store.ts';
import type { MissingDocument } from './state.ts';

/** What became of some documents on their way into the collection that takes the place. */
export interface Copied extends Accepted {
  /** Those whose pictures are analyzed again. */
  readonly analyzed: number;
  readonly missing: readonly MissingDocument[];
}

/**
 * Accepts documents in another collection, and deletes. Outputs that today's models take come along; where they do not,
 * the picture is analyzed again.
 *
 * @param withoutPicture copies those too that would need their picture and have no address
 */
export async function copyDocuments(
  store: Store,
  target: Collection,
  documents: readonly ExportedDocument[],
  deleted: readonly string[],
  withoutPicture: boolean,
): Promise<Copied> {
  const { fields: schema } = await loadSchema(store, target);
  const changes: Change[] = deleted.map((id) => ({ kind: 'delete', id }));
  const missing: MissingDocument[] = [];
  let analyzed = 0;
  for (const { fields, outputs, thumbnail } of documents) {
    const id = String(fields.get('id'));
    try {
      const document = documentFromJson(jsonOf(fields), schema);
      const image = document.fields.get('image');
      const read = outputs === null ? undefined : tryOutputs(store, outputs);
      const problem = read instanceof AkinError ? read : undefined;
      if (outputs !== null && problem === undefined) {
        changes.push({
          kind: 'add',
          document: { ...document, import: outputs, ...(thumbnail === null ? {} : { thumbnail }) },
          ...read,
        });
      } else if (typeof image === 'string' && /^https?:/i.test(image)) {
        analyzed++;
        changes.push({ kind: 'add', document });
      } else if (problem === undefined) changes.push({ kind: 'add', document });
      else {
        missing.push({
          id,
          code: problem.code,
          msg: `${problem.message} It has no address to fetch its picture from.`,
        });
        if (withoutPicture) changes.push({ kind: 'add', document: withoutAddress(document) });
      }
    } catch (error) {
      if (!(error instanceof AkinError)) throw error;
      missing.push({ id, code: error.code, msg: error.message });
    }
  }
  const staging = await stageChanges(store, target);
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

/** The mark of outputs, or why today's models do not take them. */
function tryOutputs(store: Store, outputs: string): { readonly mark?: string } | AkinError {
  try {
    const { mark } = store.parseOutputs(outputs);
    return mark === undefined ? {} : { mark };
  } catch (error) {
    if (error instanceof AkinError) return error;
    throw error;
  }
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
