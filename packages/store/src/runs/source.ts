import { readPictureAddress } from '@akin/domain';
import type { Collection, Store } from '../context.ts';
import { Params } from '../search/params.ts';
import { withSnapshot } from '../search/snapshot.ts';
import { visible } from '../search/visible.ts';

/** Where the file of a document is. */
export interface FilePlace {
  /** The folder that was indexed. */
  readonly source: string;
  /** The path of the file in this folder. */
  readonly path: string;
}

/** @returns undefined also if the file was gone when akin last looked: another one may have its path now */
export function placeOf(id: string, source: unknown, path: unknown, missing: unknown): FilePlace | undefined {
  if (typeof source !== 'string' || missing === true) return undefined;
  return { source, path: typeof path === 'string' ? path : id };
}

/** Where the picture of a document can be read again. */
interface StoredPicture {
  /** The file that the document names as its own, as of {@link placeOf}. */
  readonly place: FilePlace | undefined;
  /** Whether its file was gone when akin last looked. */
  readonly isMissing: boolean;
  /** An http(s) URL. */
  readonly address: string | undefined;
  /** WebP. */
  readonly thumbnail: Uint8Array | undefined;
}

/** The picture of a visible document by its id. @returns undefined if there is no such document */
export async function readStoredPicture(
  store: Store,
  collection: Collection,
  id: string,
): Promise<StoredPicture | undefined> {
  return withSnapshot(store, collection, async (snapshot) => {
    const { tx, sqlSchema, schema } = snapshot;
    const params = new Params();
    const columnOf = (name: string, type: 'string' | 'boolean') => {
      const column = schema.columns.get(name);
      return column?.kind === 'column' && column.type === type ? `d.${column.sql}` : 'null';
    };
    const [source, path, image] = ['source', 'path', 'image'].map((name) => columnOf(name, 'string'));
    type Picture = Record<'source' | 'path' | 'image', string | null> & {
      readonly missing: boolean | null;
      readonly thumbnail: Buffer | null;
    };
    const [row] = await tx.query<Picture>(
      `select ${source} as source, ${path} as path, ${image} as image,
              ${columnOf('missing', 'boolean')} as missing, t.bytes as thumbnail
         from ${sqlSchema}.documents d left join ${sqlSchema}.thumbnails t on t.doc = d.doc
        where d.id = ${params.add(id, 'text')} and ${visible(snapshot, params)}`,
      params.values,
    );
    if (row === undefined) return undefined;
    return {
      place: placeOf(id, row.source, row.path, row.missing),
      isMissing: row.missing === true,
      address: addressIn(row.image),
      thumbnail: row.thumbnail ?? undefined,
    };
  });
}

function addressIn(image: string | null): string | undefined {
  const read = image === null ? undefined : readPictureAddress(image);
  return read !== undefined && 'address' in read ? read.address : undefined;
}
