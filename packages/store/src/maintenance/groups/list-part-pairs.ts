import type { Store } from '../../changes/context.ts';
import type { Collection } from '../../database/context.ts';
import { readDocuments, selectFields } from '../../search/hydrate.ts';
import { conditionsOf } from '../../search/matching.ts';
import { Params } from '../../search/params.ts';
import { areaOf, type Box, type PartBox } from '../../search/part-box.ts';
import { type Snapshot, withSnapshot } from '../../search/snapshot.ts';
import type { GroupMember, GroupsRequest } from './list-groups.ts';

/** The ids of a pair. */
type PartPairIds = readonly [whole: string, part: string];

/** As for groups. Both documents of a pair match all filters. */
interface PartPairsRequest extends Omit<GroupsRequest, 'members' | 'membersFrom' | 'id' | 'after'> {
  /** Continues after this pair. */
  readonly after?: PartPairIds | undefined;
}

interface PartPairsPage {
  /** The last commit of the collection, which decides what is visible. */
  readonly commit: number;
  /** The commit up to which the pairs are current. */
  readonly asOfCommit: number;
  readonly numFound: number;
  /** By the ids of the whole and of the part, ascending. */
  readonly pairs: readonly PartPair[];
  readonly next: PartPairIds | undefined;
}

export interface PartPair {
  readonly part: PairedDocument;
  readonly whole: PairedDocument;
  readonly strength: number;
  /** The query is the whole. */
  readonly box: PartBox;
  /** Whether most of both is in common: a turned or captioned copy, for example. */
  readonly isCopy: boolean;
}

/** The share of both pictures that is in common in copies. */
const COPY_AREA = 0.7;

type PairedDocument = Omit<GroupMember, 'distance'>;

interface PairRow {
  readonly part: bigint;
  readonly whole: bigint;
  readonly part_id: string;
  readonly whole_id: string;
  readonly strength: number;
  readonly part_box: number[];
  readonly whole_box: number[];
  readonly turn: number;
  readonly scale: number;
  readonly mirrored: boolean;
}

/**
 * A page of the pairs of pictures that have a part in common, as of the last `updatePartPairs`, without those that are
 * in one group of near-duplicates, or that somebody marked as different.
 *
 * @throws AkinError bad-request for filters that do not fit the schema
 */
export async function listPartPairs(
  store: Store,
  collection: Collection,
  request: PartPairsRequest,
): Promise<PartPairsPage> {
  return withSnapshot(store, collection, async (snapshot) => {
    const { tx, sqlSchema: S } = snapshot;
    const [state] = await tx.query<{ as_of_commit: bigint }>(`select as_of_commit from ${S}.part_state`);
    const { rows, total } = await readPairs(snapshot, request);
    const listed = rows.slice(0, request.rows);
    const documents = await readDocuments(
      store,
      snapshot,
      [...new Set(listed.flatMap(({ part, whole }) => [part, whole]))],
      selectFields(snapshot, request.fields ?? ['*']),
      request.distances ?? [],
    );
    const paired = (doc: bigint, id: string): PairedDocument => {
      const { document = new Map(), distances = [] } = documents.get(doc) ?? {};
      return { id, document, distances };
    };
    const last = listed.at(-1);
    return {
      commit: Number(snapshot.commit),
      asOfCommit: Number(state?.as_of_commit ?? 0),
      numFound: total,
      pairs: listed.map(({ part, whole, part_id, whole_id, strength, part_box, whole_box, turn, scale, mirrored }) => ({
        part: paired(part, part_id),
        whole: paired(whole, whole_id),
        strength,
        isCopy: [whole_box, part_box].every((box) => areaOf(box as unknown as Box) >= COPY_AREA),
        box: {
          query: whole_box as unknown as Box,
          document: part_box as unknown as Box,
          turn,
          scale,
          isMirrored: mirrored,
        },
      })),
      next: rows.length > request.rows && last ? [last.whole_id, last.part_id] : undefined,
    };
  });
}

async function readPairs(
  snapshot: Snapshot,
  { filters = [], rows, after = ['', ''], now = new Date(), timeZone = 'UTC' }: PartPairsRequest,
): Promise<{ readonly rows: readonly PairRow[]; readonly total: number }> {
  const { sqlSchema: S } = snapshot;
  const params = new Params();
  const asked = { query: { kind: 'all' } as const, filters, rows };
  const { where } = conditionsOf(asked, { ...snapshot, clock: { now, timeZone } }, params);
  const matching = (doc: string) => `(select d.id from ${S}.documents d where d.doc = ${doc} and ${where} offset 0)`;
  const group = (doc: string) =>
    `coalesce((select f.representative from ${S}.followers f where f.doc = ${doc}), ${doc})`;
  const [whole, part] = after.map((id) => params.add(id, 'text'));
  const found = await snapshot.tx.query<PairRow & { total: bigint }>(
    `with found as materialized (
       select p.*, a.id as part_id, b.id as whole_id
         from ${S}.part_pairs p cross join lateral ${matching('p.part')} a cross join lateral ${matching('p.whole')} b
        where ${group('p.part')} <> ${group('p.whole')}
          and not exists (select from ${S}.decisions x where x.id = a.id and x.other_id = b.id))
     select f.*, total from (select count(*) as total from found) t
       left join lateral (select * from found where (whole_id, part_id) > (${whole}, ${part})
                           order by whole_id, part_id limit ${params.add(rows + 1, 'int8')}) f on true
      order by f.whole_id, f.part_id`,
    params.values,
  );
  const total = Number(found[0]?.total ?? 0);
  return { rows: found.filter(({ part }) => part !== null), total };
}
