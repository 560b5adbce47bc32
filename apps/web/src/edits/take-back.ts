import type { FoundDocument } from '@akin/client';
import { strings } from '../elements.ts';
import type { Takeover } from '../review/takeover.ts';

/**
 * The update that takes back what a document took over, except fields that somebody has changed since.
 *
 * @param now the document as it is; undefined if it is gone
 * @returns undefined if there is nothing to take back
 */
export function takeBack({ id, ...taken }: Takeover, now: FoundDocument | undefined): object | undefined {
  if (now === undefined) return undefined;
  const changes = Object.entries(taken).flatMap(([name, change]): [string, object][] => {
    if (typeof change !== 'object' || change === null) return [];
    if ('set' in change) return now[name] === change.set ? [[name, { set: null }]] : [];
    const labels = 'add-distinct' in change ? strings(change['add-distinct'] as string[]) : [];
    const there = labels.filter((label) => strings(now.labels).includes(label));
    return there.length > 0 ? [[name, { remove: there }]] : [];
  });
  return changes.length === 0 ? undefined : { id, _version_: 1, ...Object.fromEntries(changes) };
}
