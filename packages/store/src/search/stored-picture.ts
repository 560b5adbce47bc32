import { readPictureAddress } from '@akin/domain';
import type { Collection } from '../database/context.ts';
import type { SearchStore } from './context.ts';
import { findDocument } from './read.ts';
import { withSnapshot } from './snapshot.ts';

/** Where the file of a document is, and what it contains. */
export interface FilePlace {
  /** The folder that was indexed. */
  readonly source: string;
  /** The path of the file in this folder. */
  readonly path: string;
  /** Its size in bytes, and the hash of its content that the command computed which indexed it. */
  readonly bytes: number;
  readonly hash: number;
}

/** @param read returns a field of the document. @returns undefined for one that was not indexed from a file */
export function placeOf(id: string, read: (field: string) => unknown): FilePlace | undefined {
  const [source, path] = [read('source'), read('path')];
  const [bytes, hash] = [Number(read('bytes') ?? Number.NaN), Number(read('file_hash') ?? Number.NaN)];
  if (typeof source !== 'string' || Number.isNaN(bytes) || Number.isNaN(hash)) return undefined;
  return { source, path: typeof path === 'string' ? path : id, bytes, hash };
}

/** Where the picture of a document can be read again. */
interface StoredPicture {
  /** The file that the document names as its own. */
  readonly place: FilePlace | undefined;
  /** An http(s) URL. */
  readonly address: string | undefined;
  /** WebP. */
  readonly thumbnail: Uint8Array | undefined;
}

/** The picture of a visible document by its id. @returns undefined if there is no such document */
export async function readStoredPicture(
  store: SearchStore,
  collection: Collection,
  id: string,
): Promise<StoredPicture | undefined> {
  return withSnapshot(store, collection, async (snapshot) => {
    const { sqlSchema, schema } = snapshot;
    const columns = ['source', 'path', 'bytes', 'file_hash', 'image'].map((name) => {
      const column = schema.columns.get(name);
      const isOne = column?.kind === 'column' && ['string', 'long', 'double'].includes(column.type);
      return `${isOne ? `d.${column.sql}::text` : 'null'} as ${name}`;
    });
    type Picture = Readonly<Record<string, string | null>> & { readonly thumbnail: Buffer | null };
    const joins = `left join ${sqlSchema}.thumbnails t on t.doc = d.doc`;
    const row = await findDocument<Picture>(snapshot, id, `${columns.join(', ')}, t.bytes as thumbnail`, joins);
    if (row === undefined) return undefined;
    return {
      place: placeOf(id, (field) => row[field]),
      address: addressIn(row.image ?? null),
      thumbnail: row.thumbnail ?? undefined,
    };
  });
}

function addressIn(image: string | null): string | undefined {
  const read = image === null ? undefined : readPictureAddress(image);
  return read !== undefined && 'address' in read ? read.address : undefined;
}
