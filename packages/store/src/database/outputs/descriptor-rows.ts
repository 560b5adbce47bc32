import { hash } from 'node:crypto';
import { descriptorTable } from '../collections/collection-tables.ts';
import type { Database } from '../context.ts';
import { encodeHalfvec, halfvecOfHalves } from '../engine/binary.ts';
import type { Queryable } from '../engine/engine.ts';
import type { ParsedDescriptor } from '../model-sets.ts';

export function descriptorTables({ modules }: Pick<Database, 'modules'>, sqlSchema: string): string[] {
  return modules.filter(({ descriptor }) => descriptor).map(({ name }) => descriptorTable(sqlSchema, name));
}

/** A descriptor in the binary format of `halfvec`. Its numbers are converted only when they are asked for. */
export function halfvecOf({ halves, vector }: ParsedDescriptor): Uint8Array {
  return halves ? halfvecOfHalves(halves) : encodeHalfvec(vector);
}

/** Everything of a descriptor that is not its vector. */
export function codesOf({ codes = NO_CODES }: ParsedDescriptor): Uint8Array {
  return codes;
}

const NO_CODES = new Uint8Array();

/** The ETag of a thumbnail, which depends only on its bytes. Not MD5, which is missing in FIPS mode. */
export function etagOf(thumbnail: Uint8Array): string {
  return hash('sha256', thumbnail, 'hex').slice(0, 32);
}

/** Copies descriptors and thumbnails from one version of a document to the next, where the next has none of its own. */
export async function copyPictures(
  tx: Queryable,
  store: Database,
  S: string,
  copies: readonly { readonly from: bigint; readonly to: bigint }[],
): Promise<void> {
  if (copies.length === 0) return;
  const values = [copies.map(({ to }) => to), copies.map(({ from }) => from)];
  const tables = descriptorTables(store, S).map((table) => [table, 'vector, codes'] as const);
  for (const [table, columns] of [...tables, [`${S}.thumbnails`, 'bytes, etag'] as const]) {
    await tx.query(
      `insert into ${table} (doc, ${columns})
       select t.doc, ${columns} from unnest($1::bigint[], $2::bigint[]) t (doc, source)
         join ${table} o on o.doc = t.source on conflict (doc) do nothing`,
      values,
    );
  }
}

/** Removes the descriptors and thumbnails of rows that no document needs. */
export async function removePictures(
  tx: Queryable,
  store: Database,
  S: string,
  docs: readonly bigint[],
): Promise<void> {
  if (docs.length === 0) return;
  for (const table of [...descriptorTables(store, S), `${S}.thumbnails`]) {
    await tx.query(`delete from ${table} where doc = any($1::bigint[])`, [docs]);
  }
}
