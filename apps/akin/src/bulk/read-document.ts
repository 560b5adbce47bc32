import type { Line } from './line.ts';

export interface BulkDocument extends Line {
  readonly bytes: Buffer;
  /** Empty if it is missing or neither a string nor a number: akin then says what is wrong. */
  readonly id: string;
  readonly hasPicture: boolean;
}

/** The first line of an export: the fields of its collection, so that they get the same types again. */
export interface ExportHeader {
  readonly fields: Readonly<Record<string, string>>;
}

/** @returns the document, the header of an export, or what is wrong with the line */
export function readDocument(line: Line): BulkDocument | { header: ExportHeader } | { problem: string } {
  const { bytes } = line;
  if (bytes === undefined) return { problem: line.problem ?? 'The document has more than 8 MB.' };
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch (error) {
    return { problem: `The line is not JSON: ${(error as Error).message}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { problem: 'The line is not a JSON object.' };
  }
  const members = value as Record<string, unknown>;
  const header = line.number === 1 ? members['akin-export'] : undefined;
  if (typeof header === 'object' && header !== null) {
    return { header: { fields: (header as { fields?: Record<string, string> }).fields ?? {} } };
  }
  const { id, image } = members;
  const imported = members.import ?? members.pxl_import;
  return {
    ...line,
    bytes,
    id: typeof id === 'string' || typeof id === 'number' ? String(id) : '',
    hasPicture: typeof image === 'string' && (imported === undefined || imported === null),
  };
}
