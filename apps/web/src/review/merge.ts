import type { FoundDocument } from '@akin/client';
import { isOwnField } from '../details/facts.ts';
import { strings } from '../elements.ts';
import { bestOf } from './keep.ts';
import type { Takeover } from './takeover.ts';

/**
 * What the best kept member of each group takes over from the marked ones: labels that it has not, and fields of people
 * that it has not. What tells about a file is never taken over.
 *
 * @param groups the shown members of each group
 */
export function takeovers(
  groups: readonly (readonly FoundDocument[])[],
  marked: ReadonlySet<string>,
): readonly Takeover[] {
  return groups.flatMap((members) => {
    const kept = bestOf(members.filter(({ id }) => !marked.has(id)));
    if (kept === undefined) return [];
    const others = members.filter(({ id }) => marked.has(id));
    const known = strings(kept.labels);
    const labels = [...new Set(others.flatMap((other) => strings(other.labels)))].filter((one) => !known.includes(one));
    // Of several values, that of the first member.
    const fields = new Map(
      others.toReversed().flatMap((other) => Object.entries(other).filter(([name]) => isOwnField(name))),
    );
    const added = [...fields].filter(([name]) => kept[name] === undefined);
    if (labels.length === 0 && added.length === 0) return [];
    return {
      id: kept.id,
      _version_: 1 as const,
      ...Object.fromEntries(added.map(([name, value]) => [name, { set: value }])),
      ...(labels.length > 0 ? { labels: { 'add-distinct': labels } } : {}),
    };
  });
}
