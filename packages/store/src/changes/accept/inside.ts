import { LIVE, OPEN_STATES } from '../../database/collections/collection-tables.ts';
import { textArray } from '../../database/engine/binary.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import type { KeyFilter } from '../../search/context.ts';
import { keyFilterFor } from '../../search/keys/key-filter.ts';
import { Params } from '../../search/params.ts';
import { keyConditions } from '../../search/visible.ts';
import type { CollectionContext } from '../context.ts';
import { type Acceptance, refuseStaged } from './refuse-staged.ts';

/**
 * Makes sure that staged operations of a key with a filter change only documents inside: an id is free, or all accepted
 * changes of it made documents inside.
 *
 * @throws AkinError conflict with a detail for each id that is not the key's; with a time to try again if a pending
 * change decides
 */
export async function requireInside(acceptance: Acceptance): Promise<void> {
  if (acceptance.store.keyFilter === undefined) return;
  await refuseStaged(acceptance, 'true', async (ids) => {
    const { outside, undecided } = await closedIds(acceptance.tx, acceptance, ids);
    return ({ id }) => {
      if (outside.has(id)) {
        const text = 'the id belongs to a document that this key may not change. Use another id.';
        return { text, isTemporary: false };
      }
      if (!undecided.has(id)) return undefined;
      const text = 'a pending change of this id decides whether this key may change it: send it again in a moment.';
      return { text, isTemporary: true };
    };
  });
}

/** Ids that the key of a request may not change. */
interface ClosedIds {
  /** Their documents do not match its filter. */
  readonly outside: ReadonlySet<string>;
  /** Their pending changes may make such documents. */
  readonly undecided: ReadonlySet<string>;
}

/** None if the key has no filter. */
export async function closedIds(tx: Queryable, context: CollectionContext, ids: readonly string[]): Promise<ClosedIds> {
  if (context.store.keyFilter === undefined) return { outside: new Set(), undecided: new Set() };
  // In this order: an operation that is applied in between is found among the documents.
  const undecided = await undecidedIds(tx, context, ids);
  return { undecided, outside: await outsideIds(tx, context, ids) };
}

async function outsideIds(
  tx: Queryable,
  { store, collection: { sqlSchema }, schema }: CollectionContext,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const params = new Params();
  const tables = { sqlSchema, schema, modules: store.modules, key: keyFilterFor(store, schema.fields) };
  const inside = keyConditions(tables, params);
  const rows = await tx.query<{ id: string }>(
    `select d.id from ${sqlSchema}.documents d
      where d.id = any(${params.add(textArray(ids), 'text[]')}) and d.valid_to = ${LIVE}
        and (${inside.join(' and ')}) is not true`,
    params.values,
  );
  return new Set(rows.map(({ id }) => id));
}

/** SQL: whether the document of the operation `o`, which is an add, has the fields that a key sets. */
export function hasSetFields(keyFilter: KeyFilter | undefined, params: Params): string {
  const set = [...(keyFilter?.set ?? [])].map(
    ([name, value]) => `(o.document::json ->> ${params.add(name, 'text')}) = ${params.add(value, 'text')}`,
  );
  return set.length === 0 ? 'false' : `(${set.join(' and ')})`;
}

/** A document that contains the fields that the key sets is inside, see `matchesAllWith`. Any other one may be. */
async function undecidedIds(
  tx: Queryable,
  { store, collection: { sqlSchema: S } }: CollectionContext,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const params = new Params();
  const isInside = hasSetFields(store.keyFilter, params);
  const rows = await tx.query<{ id: string }>(
    `select distinct o.id from ${S}.operations o join ${S}.requests r using (request)
      where o.id = any(${params.add(textArray(ids), 'text[]')}) and o.state in ${OPEN_STATES} and r.first_seq is not null
        and o.kind = 'add' and ${isInside} is not true`,
    params.values,
  );
  return new Set(rows.map(({ id }) => id));
}
