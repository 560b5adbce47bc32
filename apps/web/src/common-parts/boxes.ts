import type { FoundDocument, Plain } from '@akin/client';

/** x, y, width and height as fractions of a picture. */
export type Box = readonly [x: number, y: number, width: number, height: number];

/** Where the picture of a query and that of a document have a part in common. */
export interface Boxes {
  readonly query: Box;
  readonly document: Box;
}

/** The boxes that akin found; undefined if it looked for none. */
export function boxesOf(document: FoundDocument): Boxes | undefined {
  const found = document.parts_box;
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return undefined;
  const [query, own] = [found.query, found.document];
  return isBox(query) && isBox(own) ? { query, document: own } : undefined;
}

function isBox(value: Plain | undefined): value is Plain & Box {
  return Array.isArray(value) && value.length === 4 && value.every((one) => typeof one === 'number');
}

/** A part with this share of the area is the whole picture: captions and borders are left out. */
const WHOLE = 0.7;

/** What the picture of the query is to that of the document. */
export function relationOf({ query, document }: Boxes): 'copy' | 'inside' | 'contains' | 'common' {
  const [isAllOfQuery, isAllOfDocument] = [query, document].map(([, , width, height]) => width * height >= WHOLE);
  if (isAllOfQuery) return isAllOfDocument ? 'copy' : 'inside';
  return isAllOfDocument ? 'contains' : 'common';
}
