import { AkinError, naming } from '@akin/domain';
import { descriptorTable } from '../collection-tables.ts';
import { encodeHalfvec } from '../engine/binary.ts';
import { compileQuery } from './compile.ts';
import type { Clock } from './date-math.ts';
import type { MatchedWithout } from './facets.ts';
import { Params } from './params.ts';
import type { Rank, SearchRequest } from './request.ts';
import { type Snapshot, visible } from './snapshot.ts';

/** What a statement selects from, and the value of a match. Each has parameters of its own: one unused has no type. */
export interface Matches {
  readonly params: Params;
  readonly from: string;
  /** The score or distance: SQL, or one number for all. 0 where it is not asked for. */
  readonly value: string | number;
  /** True of the values that match. */
  readonly inRange: string;
}

export function matching(request: SearchRequest, snapshot: Snapshot, clock: Clock, valued: boolean): Matches {
  const { rank, filters = [] } = request;
  const params = new Params();
  const context = { tables: snapshot, params, ...clock };
  const query = naming('q', () => compileQuery(request.query, context, valued && rank === undefined));
  const conditions = [query, ...filters.map((filter) => naming('fq', () => compileQuery(filter, context, false)))]
    .map(({ where }) => where)
    .filter((where) => where !== 'true');
  const where = [visible(params.add(snapshot.commit, 'int8')), ...conditions].join(' and ');
  const documents = `${snapshot.sqlSchema}.documents d`;
  if (rank === undefined) return { params, from: `${documents} where ${where}`, value: query.score, inRange: 'true' };
  return {
    params,
    // A condition on the cell of the descriptor belongs into this `where`. The fence keeps any index on vectors, if
    // someone made one, from answering before the filters: pages would be short.
    from: `${documents} join ${rankedTable(rank, snapshot)} v on v.doc = d.doc where ${where} offset 0`,
    value: valued ? distanceTo(rank, params) : 0,
    inRange: rank.maxDistance === undefined ? 'true' : `m.value <= ${params.add(rank.maxDistance, 'float8')}`,
  };
}

/** The documents that match, for counting: those within the greatest distance are found once a statement. */
export function matchedBy({ query, filters = [], rank }: SearchRequest, snapshot: Snapshot): MatchedWithout {
  return (without, context) => {
    const { params } = context;
    const conditions = [query, ...filters]
      .filter((one) => !without.has(one))
      .map((one) => compileQuery(one, context, false).where)
      .filter((where) => where !== 'true');
    const documents = `${snapshot.sqlSchema}.documents d`;
    const where = [visible(params.add(snapshot.commit, 'int8')), ...conditions].join(' and ');
    if (rank === undefined) return { with: '', from: documents, where, everything: conditions.length === 0 };
    const descriptors = `${rankedTable(rank, snapshot)} v`;
    if (rank.maxDistance === undefined) {
      const described = `exists (select from ${descriptors} where v.doc = d.doc)`;
      return { with: '', from: documents, where: `${where} and ${described}`, everything: false };
    }
    const value = distanceTo(rank, params);
    const greatest = params.add(rank.maxDistance, 'float8');
    return {
      // Whole rows: few are near, and to look them up again takes a plan that knows how few.
      with:
        `with near as materialized (select m.* from (select d.*, ${value} as value from ${documents} ` +
        `join ${descriptors} on v.doc = d.doc where ${where} offset 0) m where m.value <= ${greatest})`,
      from: 'near d',
      where: 'true',
      everything: false,
    };
  };
}

/** SQL of the distance of a descriptor `v`. */
function distanceTo({ vector }: Rank, params: Params): string {
  return `v.vector <-> ${params.add(encodeHalfvec(vector), `halfvec(${vector.length})`)}`;
}

function rankedTable({ module, vector }: Rank, { sqlSchema, modules }: Snapshot): string {
  const descriptor = modules.find(({ name }) => name === module)?.descriptor;
  if (descriptor?.dimensions !== vector.length) {
    throw new AkinError(
      'bad-request',
      `${JSON.stringify(module)} does not rank by vectors of ${vector.length} numbers.`,
    );
  }
  return descriptorTable(sqlSchema, module);
}
