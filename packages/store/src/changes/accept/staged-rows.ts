import {
  coerceValue,
  documentToJson,
  type FieldType,
  type FieldValue,
  isModifier,
  type JsonObject,
  type NewDocument,
  parseJson,
  parseUrl,
  readModifiers,
} from '@akin/domain';
import type { CollectionSchema } from '../../database/context.ts';
import type { ParsedOutputs } from '../../database/model-sets.ts';

/** A validated change of a client. */
export type Change =
  | {
      readonly kind: 'add';
      readonly document: NewDocument & { /** It has been read: see `outputs`. */ readonly import?: never };
      /** The outputs of its picture. Absent: the picture is analyzed. */
      readonly outputs?: ParsedOutputs;
      /** The modules to apply to the image. Absent: all. */
      readonly modules?: readonly string[];
      /** The version that the document keeps. Default: the sequence number of the change. */
      readonly keptVersion?: bigint;
    }
  | { readonly kind: 'delete'; readonly id: string /** As in a document. */; readonly expectedVersion?: bigint }
  | { readonly kind: 'delete-by-query'; readonly query: string };

/** A row of `operations`, with its rows for the tables of descriptors and thumbnails. */
export interface Row {
  readonly kind: Change['kind'];
  readonly id: string | null;
  readonly document: string | null;
  readonly modules: string | null;
  readonly state: 'queued' | 'ready';
  /** The host of the picture's URL, if it is to be analyzed: analyses per host are limited. */
  readonly host: string | null;
  readonly outputs: ParsedOutputs | null;
  readonly thumbnail: Uint8Array | null;
  readonly atomic: boolean;
  readonly expected: bigint | null;
  readonly kept: bigint | null;
}

const EMPTY: Row = {
  kind: 'delete',
  id: null,
  document: null,
  modules: null,
  state: 'ready',
  host: null,
  outputs: null,
  thumbnail: null,
  atomic: false,
  expected: null,
  kept: null,
};

/** @param types gets the types of the fields that the change sets */
export function rowOf(change: Change, types: Map<string, FieldType>): Row {
  if (change.kind === 'delete')
    return { ...EMPTY, kind: 'delete', id: change.id, expected: change.expectedVersion ?? null };
  if (change.kind === 'delete-by-query') return { ...EMPTY, kind: 'delete-by-query', document: change.query };
  const { id, fields, rawFields, modifiers, thumbnail } = change.document;
  const { outputs } = change;
  for (const [name, value] of fields) claim(types, name, value);
  for (const [name, list] of modifiers ?? []) for (const { coerced } of list) claim(types, name, coerced);
  return {
    kind: 'add',
    id,
    document: documentToJson({ id, fields, rawFields, ...(modifiers ? { modifiers } : {}) }),
    atomic: modifiers !== undefined,
    expected: change.document.expectedVersion ?? null,
    kept: change.keptVersion ?? null,
    outputs: outputs ?? null,
    thumbnail: thumbnail ?? null,
    modules: change.modules?.join(',') ?? null,
    ...(outputs === undefined && fields.has('image')
      ? { state: 'queued', host: hostOf(String(fields.get('image'))) }
      : { state: 'ready', host: null }),
  };
}

function claim(types: Map<string, FieldType>, name: string, value: FieldValue | undefined): void {
  const type = value === undefined ? undefined : typeOfValue(value);
  if (type !== undefined && !types.has(name)) types.set(name, type);
}

/** The type that a new field gets from a value. Undefined for values that only preconfigured fields have. */
function typeOfValue(value: FieldValue): FieldType | undefined {
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'bigint':
      return 'long';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    default:
      return value instanceof Date ? 'date' : undefined;
  }
}

function hostOf(address: string): string | null {
  return parseUrl(address)?.host ?? null;
}

export function sizeOf({ document, outputs, thumbnail }: Row): number {
  let bytes = 50 + (document?.length ?? 0) + (thumbnail?.length ?? 0);
  if (outputs === null) return bytes;
  bytes += ANALYSIS_BYTES;
  for (const { halves, vector, codes } of outputs.descriptors.values()) {
    bytes += (halves?.length ?? 2 * vector.length) + (codes?.length ?? 0);
  }
  return bytes;
}

/** Approximate number of bytes of outputs without descriptors. */
const ANALYSIS_BYTES = 300;

/**
 * The error of the first value of a staged document that does not have the type of its field, if any.
 *
 * @param document JSON text
 * @param names the fields to check
 */
export function typeMismatchIn(
  document: string,
  names: readonly string[],
  schema: CollectionSchema,
): string | undefined {
  const values = parseJson(document) as JsonObject;
  for (const name of names) {
    const value = values.get(name);
    const type = schema.fields.get(name)?.type;
    if (value === undefined || type === undefined) continue;
    try {
      if (isModifier(value)) readModifiers(type, [value]);
      else coerceValue(type, value);
    } catch (error) {
      return `field ${JSON.stringify(name)}: ${(error as Error).message}`;
    }
  }
  return undefined;
}
