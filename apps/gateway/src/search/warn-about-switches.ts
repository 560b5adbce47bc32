import type { ParameterList } from '../parameters/parameters.ts';
import { FACET_PARAMETERS } from './facets/facets.ts';

/** Parameters of Solr that count only if another one is true. */
const SWITCHES = {
  facet: FACET_PARAMETERS,
  stats: ['stats.field'],
  group: ['group.field'],
  expand: ['expand.rows', 'expand.sort'],
};

/**
 * Warnings about parameters that have no effect, because the one that switches them on is missing. If it is there and
 * false, that is on purpose.
 */
export function warnAboutSwitches(list: ParameterList, isRanked: boolean): string[] {
  const sent = new Set(list.filter(([, value]) => value !== '').map(([name]) => name));
  const missing = Object.entries(SWITCHES).flatMap(([name, others]) =>
    sent.has(name) ? [] : others.map((other): [name: string, needed: string] => [other, `${name}=true`]),
  );
  if (!isRanked) missing.push(['rank.threshold', 'rank.by.*']);
  return missing
    .filter(([name]) => sent.has(name))
    .map(([name, needed]) => `Parameter ${name} has no effect without ${needed}.`);
}
