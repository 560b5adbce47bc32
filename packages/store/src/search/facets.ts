import { AkinError, type Query } from '@akin/domain';
import type { CountRow, FacetPlan, MatchedDocuments } from './facet-plan.ts';
import { MAX_FACET_VALUES, planOf } from './facet-plans.ts';
import type { FacetRequest, FacetResult } from './facet-request.ts';
import { contextOf } from './matching.ts';
import { Params } from './params.ts';
import type { Snapshot } from './snapshot.ts';

/** Maximum number of facets of a search. */
const MAX_FACETS = 200;
const NOTHING: ReadonlySet<Query> = new Set();

/** The matches of a search if some of its filters are left out. The result may be used in several statements. */
export type MatchedWithoutQueries = (without: ReadonlySet<Query>) => Promise<(params: Params) => MatchedDocuments>;

interface Pending {
  /** Position of the facet in the request. */
  readonly index: number;
  readonly plan: FacetPlan;
  /** Whether values that only other documents have are listed too. */
  readonly zeros: boolean;
}

/**
 * Counts the facets of a search in the snapshot of its page. Facets over the same documents share one statement, in
 * which each is one pass, and the cost of a ranking's threshold is paid once.
 *
 * @param known known results, by position
 * @throws AkinError bad-request for unknown fields, values that do not fit, endless ranges, too many values
 */
export async function countFacets(
  requests: readonly FacetRequest[],
  matchedWithout: MatchedWithoutQueries,
  snapshot: Snapshot,
  known: ReadonlyMap<number, FacetResult> = new Map(),
): Promise<FacetResult[]> {
  if (requests.length > MAX_FACETS) {
    throw new AkinError(
      'bad-request',
      `A request has at most ${MAX_FACETS} facets or fields of terms.fl, not ${requests.length}.`,
    );
  }
  const results = new Map(known);
  let values = 0;
  const left = requests.flatMap((request, index) => (known.has(index) ? [] : [{ request, index }]));
  for (const [without, facets] of groupByDocuments(left)) {
    const matchedBy = await matchedWithout(without);
    let pending = facets.map(({ request, index }): Pending => {
      const plan = planOf(request, snapshot);
      return { index, plan, zeros: request.kind === 'field' && request.sort === 'index' && plan.needsZeros(0) };
    });
    while (pending.length > 0) {
      const { rows, everything } = await count(pending, matchedBy, snapshot);
      values += rows.length;
      if (values > MAX_FACET_VALUES) {
        throw new AkinError(
          'bad-request',
          `There are more than ${MAX_FACET_VALUES} values to list: set facet.limit or terms.limit, or ask for fewer fields.`,
        );
      }
      // Values without documents are searched in a second pass: most lists are full without them.
      pending = pending.flatMap(({ index, plan, zeros }) => {
        const own = rows.filter(({ facet }) => facet === index);
        const found = own.filter(({ part }) => part === 'value').length;
        if (!zeros && !everything && plan.needsZeros(found)) return [{ index, plan, zeros: true }];
        results.set(index, plan.result(own));
        return [];
      });
    }
  }
  return requests.map((_, index) => results.get(index) as FacetResult);
}

/** Facets with the same `without`, which therefore count the same documents. */
function groupByDocuments(
  requests: readonly { readonly request: FacetRequest; readonly index: number }[],
): [ReadonlySet<Query>, { request: FacetRequest; index: number }[]][] {
  const groups: [ReadonlySet<Query>, { request: FacetRequest; index: number }[]][] = [];
  for (const { request, index } of requests) {
    const without = request.excludedQueries ?? NOTHING;
    const same = groups.find(
      ([other]) => other.size === without.size && [...other].every((query) => without.has(query)),
    );
    if (same === undefined) groups.push([without, [{ request, index }]]);
    else same[1].push({ request, index });
  }
  return groups;
}

async function count(
  pending: readonly Pending[],
  matchedBy: (params: Params) => MatchedDocuments,
  snapshot: Snapshot,
): Promise<{ rows: CountRow[]; everything: boolean }> {
  const context = contextOf(snapshot, new Params());
  const matched = matchedBy(context.params);
  const conditions = pending.flatMap(({ index, plan }) =>
    plan.conditions(context).map((counted) => ({ index, ...counted })),
  );
  const selects = pending.flatMap(({ index, plan, zeros }) => {
    const select = plan.select?.(matched, context, zeros);
    return select === undefined ? [] : [`select ${index} as facet, p.* from (${select}) p`];
  });
  if (conditions.length > 0) selects.push(conditionsSelect(conditions, matched));
  const rows = await snapshot.tx.query<CountRow>(
    `${matched.with} select * from (${selects.join(' union all ')}) r limit ${MAX_FACET_VALUES + 1}`,
    context.params.values,
  );
  return { rows, everything: matched.matchesAll };
}

function conditionsSelect(
  conditions: readonly { index: number; part: string; condition: string }[],
  { from, where }: MatchedDocuments,
): string {
  const counts = conditions.map(({ condition }, i) => `count(*) filter (where ${condition}) as n${i}`);
  const rows = conditions.map(({ index, part }, i) => `(${index}, '${part}', t.n${i})`);
  return (
    `select c.facet, c.part, null::text as key, c.n, 0::int8 as position ` +
    `from (select ${counts.join(', ')} from ${from} where ${where}) t ` +
    `cross join lateral (values ${rows.join(', ')}) c(facet, part, n)`
  );
}
