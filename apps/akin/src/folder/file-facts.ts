import { createHash } from 'node:crypto';
import type { FileFields } from '@akin/imaging';

const NAMES = ['taken', 'taken_utc', 'camera', 'location', 'title', 'caption', 'keywords', 'rating'] as const;

type Values = Readonly<Record<string, unknown>>;

/**
 * What a file says, as a document keeps it in `file_facts`: a hash of each value. So a later run can tell which values
 * people changed since.
 */
export function factsRecord(said: FileFields): string | undefined {
  const record = NAMES.flatMap((name) => (said[name] === undefined ? [] : [`${name}=${hashOf(name, said[name])}`]));
  return record.length === 0 ? undefined : record.join(' ');
}

/**
 * The update of a document whose file says something else now. Values that people set or removed stay; so do labels
 * that they removed.
 *
 * @param stored the fields of the document
 * @param titles the titles from the name of the file, for a file that says none: as it was, and as it is
 */
export function updateOfFacts(
  stored: Values,
  said: FileFields,
  titles: { readonly before: string; readonly now: string },
): { readonly fields: Values; readonly newLabels: readonly string[]; readonly formerLabels: readonly string[] } {
  const record = typeof stored.file_facts === 'string' ? stored.file_facts.split(' ') : [];
  const before = new Map(record.map((part) => part.split('=') as [string, string]));
  if (!before.has('title')) before.set('title', hashOf('title', titles.before));
  const now: Values = { ...said, title: said.title ?? titles.now };
  const fields: Record<string, unknown> = {};
  for (const name of NAMES) {
    const current = stored[name] ?? undefined;
    const isOfFile = before.get(name) === (current === undefined ? undefined : hashOf(name, current));
    if (isOfFile && now[name] !== undefined) fields[name] = { set: now[name] };
    else if (isOfFile && current !== undefined) fields[name] = { set: null };
  }
  const [former, current] = [keywordsOf(stored.keywords), keywordsOf(said.keywords)];
  return {
    fields: { ...fields, file_facts: { set: factsRecord(said) ?? null } },
    newLabels: current.filter((one) => !former.includes(one)),
    formerLabels: former.filter((one) => !current.includes(one)),
  };
}

function keywordsOf(value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? value.split('; ') : [];
}

/** The same for what was sent and what is read: dates and places come back in another form. */
function hashOf(name: string, value: unknown): string {
  const text = String(value);
  const plain = name.startsWith('taken')
    ? Date.parse(text)
    : name === 'location'
      ? text.split(',').map(Number).join()
      : text;
  return createHash('sha256').update(`${plain}`).digest('base64url').slice(0, 8);
}
