import type { Distance, Query, StoredDocument } from '@akin/domain';
import type { Store } from '../../changes/context.ts';
import { fileColumn } from '../../database/collections/file-column.ts';
import type { Collection } from '../../database/context.ts';
import { readDocuments, selectFields } from '../../search/hydrate.ts';
import { conditionsOf } from '../../search/matching.ts';
import { Params } from '../../search/params.ts';
import { type Snapshot, withSnapshot } from '../../search/snapshot.ts';
import { visible } from '../../search/visible.ts';
import { readState } from './state.ts';

export interface GroupsRequest {
  /** Only members that match all filters are listed. Groups with fewer than two such members are left out. */
  readonly filters?: readonly Query[];
  readonly rows: number;
  readonly members: number;
  readonly membersFrom?: number;
  readonly id?: string | undefined;
  /** Continues after the group with this id. */
  readonly after?: string | undefined;
  /** As for a search. */
  readonly fields?: readonly string[];
  readonly distances?: readonly Distance[];
  readonly now?: Date;
  readonly timeZone?: string;
}

export interface GroupsPage {
  /** The last commit of the collection, which decides what is visible. */
  readonly commit: number;
  /** The commit up to which the groups are current. Documents of later commits are in no group yet. */
  readonly asOfCommit: number;
  readonly numFound: number;
  /** False while the groups are older than the last commit. */
  readonly numFoundExact: boolean;
  /** By ascending id. */
  readonly groups: readonly Group[];
  /** The id after which to continue. Undefined at the end. */
  readonly next: string | undefined;
}

export interface Group {
  /** The id of its representative: all members are near to this document. */
  readonly id: string;
  /** Visible matching members, including those that are not listed. Of documents that name one file, one is a member. */
  readonly size: number;
  /** The representative first, if it matches, then by ascending distance to it. */
  readonly members: readonly GroupMember[];
}

export interface GroupMember {
  readonly id: string;
  /** Distance to the representative. 0 for itself. */
  readonly distance: number;
  readonly document: StoredDocument;
  /** Kilometers to each of the requested points. Null if the document has no location. */
  readonly distances: readonly (number | null)[];
}

/**
 * A page of the groups of near-duplicates, as of the last `updateGroups`.
 *
 * @throws AkinError bad-request for filters that do not fit the schema
 */
export async function listGroups(store: Store, collection: Collection, request: GroupsRequest): Promise<GroupsPage> {
  return withSnapshot(store, collection, async (snapshot) => {
    const state = await readState(snapshot.tx, collection);
    const isCurrent = state.as_of_commit === snapshot.commit;
    const filtered =
      snapshot.key !== undefined ||
      (request.filters ?? []).some(({ kind }) => kind !== 'all') ||
      fileKeys(snapshot).length > 0;
    const page = filtered
      ? await filteredGroups(snapshot, request)
      : await allGroups(snapshot, request, { asOf: state.as_of_commit });
    const groups = page.rows.slice(0, request.rows);
    const members = await readMembers(snapshot, request, groups);
    const documents = await readDocuments(
      store,
      snapshot,
      members.map(({ doc }) => doc),
      selectFields(snapshot, request.fields ?? ['*']),
      request.distances ?? [],
    );
    return {
      commit: Number(snapshot.commit),
      asOfCommit: Number(state.as_of_commit),
      numFound: page.total,
      numFoundExact: isCurrent,
      groups: groups.map(({ doc, id, size }) => ({
        id,
        size,
        members: members
          .filter(({ representative }) => representative === doc)
          .map((member) => ({
            id: member.id,
            distance: member.distance,
            document: documents.get(member.doc)?.document ?? new Map(),
            distances: documents.get(member.doc)?.distances ?? [],
          })),
      })),
      next: page.rows.length > request.rows ? groups.at(-1)?.id : undefined,
    };
  });
}

interface GroupRow {
  readonly doc: bigint;
  readonly id: string;
  readonly size: number;
}

interface FoundGroups {
  /** One more than requested if there are more. */
  readonly rows: readonly GroupRow[];
  readonly total: number;
}

/** Members of the representative `r`, including itself. */
function membersOf(S: string): string {
  return `select r.doc, 0::float8 as distance union all
          select f.doc, f.distance from ${S}.followers f where f.representative = r.doc`;
}

/** Scans the groups by their ids, and reads no more of them than the page needs. */
async function allGroups(
  snapshot: Snapshot,
  { rows, after = '', id }: GroupsRequest,
  { asOf }: { asOf: bigint },
): Promise<FoundGroups> {
  const { tx, sqlSchema: S, commit } = snapshot;
  const params = new Params();
  // All documents of the groups are visible, unless later commits removed some.
  const size =
    asOf === commit
      ? 'r.follower_count + 1'
      : `(select count(*) from (${membersOf(S)}) m join ${S}.documents d on d.doc = m.doc where ${visible(snapshot, params)})`;
  const only = id === undefined ? '' : ` and r.id = ${params.add(id, 'text')}`;
  const found = await tx.query<GroupRow>(
    `select g.doc, g.id, g.size::int as size
       from (select r.doc, r.id, ${size} as size
               from ${S}.representatives r
              where r.follower_count > 0 and not r.removed and r.id > ${params.add(after, 'text')}${only}
              order by r.id offset 0) g
      where g.size >= 2 order by g.id limit ${params.add(rows + 1, 'int8')}`,
    params.values,
  );
  const [row] = await tx.query<{ total: bigint }>(
    `select count(*) as total from ${S}.representatives where follower_count > 0 and not removed
       and ($1::text is null or id = $1)`,
    [id ?? null],
  );
  return { rows: found, total: Number(row?.total ?? 0) };
}

/**
 * SQL for rows `d`, of which two documents that name one file have one in common: its path, or its number on the disk,
 * which links share. Numbers are unique only on one disk. A document without `bytes` is not one of a file, whatever its
 * `source` means.
 */
function fileKeys({ schema }: Snapshot): string[] {
  const names = ['source', 'path', 'bytes', 'file_hash', 'file_inode'] as const;
  const [source, path, bytes, hash, inode] = names.map((name) => {
    const column = fileColumn(schema, name);
    return column && `d.${column}`;
  });
  if (source === undefined || bytes === undefined) return [];
  const place = `case when ${bytes} is not null then rtrim(${source}, '/\\') || '/' || coalesce(${path ?? 'null'}, d.id) end`;
  return hash && inode ? [place, `${inode} || ' ' || ${hash} || ' ' || ${bytes}`] : [place];
}

/**
 * SQL that leaves out members `m` of a representative `r` which name the file of an earlier member.
 *
 * @returns columns of the members, and the condition on them
 */
function oneOfEachFile(snapshot: Snapshot): { readonly columns: string; readonly where: string } {
  const keys = fileKeys(snapshot);
  return {
    columns: keys
      .map(
        (key, i) =>
          `, row_number() over (partition by r.doc, coalesce(${key}, d.doc::text) order by m.doc <> r.doc, m.distance, d.id) as of_file${i}`,
      )
      .join(''),
    where: ['true', ...keys.map((_, i) => `m.of_file${i} = 1`)].join(' and '),
  };
}

/** Starts with the members: few of the groups may have matching ones. For a key with a filter, and files, too. */
async function filteredGroups(snapshot: Snapshot, request: GroupsRequest): Promise<FoundGroups> {
  const { sqlSchema: S } = snapshot;
  const params = new Params();
  const where = conditions(snapshot, request, params);
  const id = params.add(request.id ?? null, 'text');
  const ofFile = oneOfEachFile(snapshot);
  // A group and its scores tell about its representative, which a key with a filter may not see.
  const around =
    snapshot.key === undefined
      ? ''
      : ` and exists (select from ${S}.documents d where d.doc = r.doc and ${visible(snapshot, params)})`;
  const rows = await snapshot.tx.query<{ doc: bigint | null; id: string; size: number; total: bigint }>(
    `with found as materialized (
       select m.doc, m.id, count(*)::int as size
         from (select r.doc, r.id${ofFile.columns}
                 from (select doc, doc as representative, 0::float8 as distance
                         from ${S}.representatives where follower_count > 0 and not removed
                       union all select doc, representative, distance from ${S}.followers) m
                 join ${S}.representatives r on r.doc = m.representative and not r.removed
                 join ${S}.documents d on d.doc = m.doc
                where ${where} and (${id} is null or r.id = ${id})${around}) m
        where ${ofFile.where}
        group by m.doc, m.id having count(*) >= 2)
     select f.*, total from (select count(*) as total from found) t
       left join lateral (select * from found where id > ${params.add(request.after ?? '', 'text')}
                           order by id limit ${params.add(request.rows + 1, 'int8')}) f on true
      order by f.id`,
    params.values,
  );
  return {
    rows: rows.flatMap(({ doc, id, size }) => (doc === null ? [] : [{ doc, id, size }])),
    total: Number(rows[0]?.total ?? 0),
  };
}

async function readMembers(
  snapshot: Snapshot,
  request: GroupsRequest,
  groups: readonly GroupRow[],
): Promise<{ representative: bigint; doc: bigint; id: string; distance: number }[]> {
  if (groups.length === 0) return [];
  const params = new Params();
  const where = conditions(snapshot, request, params);
  const wanted = params.add(
    groups.map(({ doc }) => doc),
    'int8[]',
  );
  const ofFile = oneOfEachFile(snapshot);
  return snapshot.tx.query(
    `select r.doc as representative, m.doc, m.id, m.distance
       from unnest(${wanted}) as r (doc)
      cross join lateral (
        select m.doc, m.id, m.distance
          from (select m.doc, d.id, m.distance${ofFile.columns} from (${membersOf(snapshot.sqlSchema)}) m
                  join ${snapshot.sqlSchema}.documents d on d.doc = m.doc
                 where ${where}) m
         where ${ofFile.where}
         order by m.doc <> r.doc, m.distance, m.id limit ${params.add(request.members, 'int8')}
                       offset ${params.add(request.membersFrom ?? 0, 'int8')}) m
      order by r.doc, m.doc <> r.doc, m.distance, m.id`,
    params.values,
  );
}

function conditions(snapshot: Snapshot, request: GroupsRequest, params: Params): string {
  const { filters = [], now = new Date(), timeZone = 'UTC' } = request;
  return conditionsOf({ query: { kind: 'all' }, filters, rows: 0 }, { ...snapshot, clock: { now, timeZone } }, params)
    .where;
}
