import { AkinError, badRequest, JsonNumber, JsonObject, PLACE_FIELDS, parseJson, stringifyJson } from '@akin/domain';
import type { Line } from './line.ts';
import type { LocalPictures } from './local-pictures.ts';
import type { TableColumns } from './table-columns.ts';

/**
 * Makes documents of the rows of a table: the column of the ids becomes `id`; an address in the column of the pictures
 * becomes `image`, a path gets the outputs and the thumbnail of its file. Keeps the order of the rows; several pictures
 * are analyzed at the same time.
 *
 * @param pictures needed if there is a column of pictures
 */
export async function* tableDocuments(
  lines: AsyncIterable<Line>,
  columns: TableColumns,
  pictures: LocalPictures | undefined,
  signal: AbortSignal,
): AsyncGenerator<Line> {
  const underway: Promise<Line>[] = [];
  for await (const line of lines) {
    const next = documentOf(line, columns, pictures, signal);
    // It is awaited later.
    next.catch(() => {});
    underway.push(next);
    if (underway.length > (pictures?.ahead ?? 0)) yield await (underway.shift() as Promise<Line>);
  }
  for (const line of underway) yield await line;
}

/** A line with a problem if it cannot become a document. */
async function documentOf(
  line: Line,
  columns: TableColumns,
  pictures: LocalPictures | undefined,
  signal: AbortSignal,
): Promise<Line> {
  if (line.bytes === undefined) return line;
  try {
    const row = parseJson(line.bytes.toString());
    // Import says what is wrong with it.
    if (!(row instanceof JsonObject)) return line;
    const named = withId(row, columns.id);
    const document = await withPicture(named, columns.picture, pictures, signal);
    return { ...line, bytes: Buffer.from(stringifyJson(new JsonObject(document))) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AkinError)) throw error;
    return { ...line, bytes: undefined, problem: error.message };
  }
}

type Members = JsonObject['entries'];

function withId({ entries }: JsonObject, column: string): Members {
  if (column === 'id') return entries;
  if (!entries.some(([name]) => name === column)) throw badRequest(`The row has no ${column}.`);
  return entries.filter(([name]) => name !== 'id').map(([name, value]) => [name === column ? 'id' : name, value]);
}

async function withPicture(
  members: Members,
  column: string | undefined,
  pictures: LocalPictures | undefined,
  signal: AbortSignal,
): Promise<Members> {
  const picture = column === undefined ? undefined : members.find(([name]) => name === column)?.[1];
  if (picture === undefined || picture === null || picture === '' || pictures === undefined) return members;
  if (typeof picture !== 'string') {
    throw badRequest(`The picture in ${column} must be text: an address or a path.`);
  }
  const without = (...names: readonly (string | undefined)[]) => members.filter(([name]) => !names.includes(name));
  if (/^https?:\/\//i.test(picture)) return [...without(column, 'image'), ['image', picture]];
  const { outputs, file } = await pictures.analyze(picture, signal);
  // A path is no address that could be shown.
  const others = without('import', 'thumbnail', ...(column === 'image' ? ['image'] : []));
  // Other columns of these names mean something else.
  const isFree = others.every(([name]) => name === column || !(name in PLACE_FIELDS));
  const named = Object.entries(isFree ? (file ?? {}) : {}).map(
    ([name, value]) => [name, typeof value === 'number' ? new JsonNumber(String(value)) : value] as const,
  );
  return [...others.filter(([name]) => !named.some(([one]) => one === name)), ...Object.entries(outputs), ...named];
}
