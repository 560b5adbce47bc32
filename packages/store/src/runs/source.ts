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
  store: Store,
  collection: Collection,
  id: string,
): Promise<StoredPicture | undefined> {
  return withSnapshot(store, collection, async (snapshot) => {
    const { tx, sqlSchema, schema } = snapshot;
    const params = new Params();
    const [source, path, image] = ['source', 'path', 'image'].map((name) => {
      const column = schema.columns.get(name);
      return column?.kind === 'column' && column.type === 'string' ? `d.${column.sql}` : 'null::text';
    });
    type Picture = Record<'source' | 'path' | 'image', string | null> & { readonly thumbnail: Buffer | null };
    const [row] = await tx.query<Picture>(
      `select ${source} as source, ${path} as path, ${image} as image, t.bytes as thumbnail
         from ${sqlSchema}.documents d left join ${sqlSchema}.thumbnails t on t.doc = d.doc
        where d.id = ${params.add(id, 'text')} and ${visible(snapshot, params)}`,
      params.values,
    );
    if (row === undefined) return undefined;
    return {
      place: row.source === null ? undefined : { source: row.source, path: row.path ?? id },
      address: addressIn(row.image),
      thumbnail: row.thumbnail ?? undefined,
    };
  });
}

function addressIn(image: string | null): string | undefined {
  const read = image === null ? undefined : readPictureAddress(image);
  return read !== undefined && 'address' in read ? read.address : undefined;
}
