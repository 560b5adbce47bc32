import { AkinError } from '@akin/domain';
import { descriptorTable } from '../collections/collection-tables.ts';
import type { Collection, Store } from '../context.ts';
import { decodeHalfvec } from '../engine/binary.ts';
import { Params } from './params.ts';
import { type Snapshot, withFewStatements } from './snapshot.ts';
import { visible } from './visible.ts';

/**
 * The descriptor of a document by its id, as of the commit of the result.
 *
 * @returns null if the document has none of that module, undefined if there is no such document
 * @throws AkinError bad-request if no such module has descriptors
 */
export async function readDescriptor(
  snapshot: Snapshot,
  id: string,
  module: string,
): Promise<Float32Array | null | undefined> {
  const { lookUp, sqlSchema, modules } = snapshot;
  if (modules.find(({ name }) => name === module)?.descriptor === undefined) {
    throw new AkinError('bad-request', `There is no descriptor of ${JSON.stringify(module)}.`);
  }
  const params = new Params();
  const [row] = await lookUp<{ vector: Buffer | null }>(
    `select halfvec_send(v.vector) as vector
       from ${sqlSchema}.documents d left join ${descriptorTable(sqlSchema, module)} v on v.doc = d.doc
      where d.id = ${params.add(id, 'text')} and ${visible(snapshot, params)}`,
    params.values,
  );
  if (row === undefined) return undefined;
  return row.vector === null ? null : decodeHalfvec(row.vector);
}

export interface Thumbnail {
  readonly etag: string;
  /** WebP. */
  readonly bytes: Uint8Array;
}

/**
 * The thumbnail of a visible document by its id. @returns null if the document has none, undefined if there is no such
 * document
 */
export async function readThumbnail(
  store: Store,
  collection: Collection,
  id: string,
): Promise<Thumbnail | null | undefined> {
  const read = async (snapshot: Snapshot) => {
    const { lookUp, sqlSchema } = snapshot;
    const params = new Params();
    const [row] = await lookUp<{ bytes: Buffer | null; etag: string | null }>(
      `select t.bytes, t.etag
         from ${sqlSchema}.documents d left join ${sqlSchema}.thumbnails t on t.doc = d.doc
        where d.id = ${params.add(id, 'text')} and ${visible(snapshot, params)}`,
      params.values,
    );
    if (row === undefined) return { thumbnail: undefined };
    const { etag, bytes } = row;
    return { thumbnail: etag === null || bytes === null ? null : { etag, bytes } };
  };
  return (await withFewStatements(store, collection, read, { isCurrent: true })).thumbnail;
}
