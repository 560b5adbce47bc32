/**
 * Type of a field. The first five are derived from the first value of a field that a client sends. Lists must be defined
 * before, or belong to predefined fields. The others belong to predefined fields.
 */
export type FieldType =
  | 'boolean'
  | 'long'
  | 'double'
  | 'date'
  | 'string'
  /** Several strings, such as labels. */
  | 'strings'
  /** Several 64-bit integers: copyspace. */
  | 'longs'
  /** Several decimal numbers: color_palette_freq. */
  | 'doubles'
  | 'dates'
  | 'location'
  /** The default search field: the words of all string values. Clients never send it, searches never return it. */
  | 'text';

export interface Location {
  /** Degrees, -90 to 90. */
  readonly lat: number;
  /** Degrees, -180 to 180. */
  readonly lon: number;
}

/** A value in memory: long is bigint, double is number, date is Date. */
export type FieldValue =
  | boolean
  | bigint
  | number
  | Date
  | string
  | Location
  | readonly string[]
  | readonly bigint[]
  | readonly number[]
  | readonly Date[];

/** The least and the greatest long. */
export const MIN_LONG = -(2n ** 63n);
export const MAX_LONG = 2n ** 63n - 1n;

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** What defined the field: akin itself, an analysis module, or the first document with this field. */
  readonly origin: 'preconfigured' | 'analysis' | 'document';
  /** False for outputs such as descriptors: a search returns them only when `fl` names them. */
  readonly returnedByDefault: boolean;
}

/** The types of lists, by the type of one value. */
const LISTS = { string: 'strings', long: 'longs', double: 'doubles', date: 'dates' } as const;

const ELEMENTS: ReadonlyMap<FieldType, FieldType> = new Map(
  Object.entries(LISTS).map(([element, list]) => [list, element as FieldType]),
);

/** The types that clients may give to a field, by their names in the interface: `double`, or `double[]` for lists. */
export const DEFINABLE_TYPES: ReadonlyMap<string, FieldType> = new Map<string, FieldType>([
  ...(['boolean', 'long', 'double', 'date', 'string'] as const).map((type) => [type, type] as const),
  ...Object.entries(LISTS).map(([element, list]) => [`${element}[]`, list] as const),
]);

/** The type of one value of a field. */
export function elementType(type: FieldType): FieldType {
  return ELEMENTS.get(type) ?? type;
}

export function isListType(type: FieldType): boolean {
  return ELEMENTS.has(type);
}

/** The type of a list of such values. Undefined if there are no such lists. */
export function listOf(type: FieldType): FieldType | undefined {
  return (LISTS as Partial<Record<FieldType, FieldType>>)[type];
}

/** The name of a type in the interface. */
export function typeName(type: FieldType): string {
  return isListType(type) ? `${elementType(type)}[]` : type;
}

/** Maximum values of a list of documents, and of a predefined one. */
const MAX_VALUES = 1_000;
const MAX_PREDEFINED_VALUES = 10_000;

export function maxValues(field: Field | undefined): number {
  return field?.origin === 'document' ? MAX_VALUES : MAX_PREDEFINED_VALUES;
}

/** The fields of one collection by name. */
export type Schema = ReadonlyMap<string, Field>;

/** A stored document as a search returns it; the order of its fields is stable. */
export type StoredDocument = ReadonlyMap<string, FieldValue>;

/** The number of the change that created a document. Returned when `fl` names it; updates may require a value. */
export const VERSION_FIELD = '_version_';

/** Fields that every collection has from the start. */
export const PRECONFIGURED_FIELDS: readonly Field[] = [
  { name: 'id', type: 'string', origin: 'preconfigured', returnedByDefault: true },
  { name: 'image', type: 'string', origin: 'preconfigured', returnedByDefault: true },
  { name: 'labels', type: 'strings', origin: 'preconfigured', returnedByDefault: true },
  { name: 'location', type: 'location', origin: 'preconfigured', returnedByDefault: true },
  { name: 'text', type: 'text', origin: 'preconfigured', returnedByDefault: false },
  { name: VERSION_FIELD, type: 'long', origin: 'preconfigured', returnedByDefault: false },
];
