/**
 * Type of a field. The first five are derived from the first value of a field that a client sends; the others belong to
 * predefined fields.
 */
export type FieldType =
  | 'boolean'
  | 'long'
  | 'double'
  | 'date'
  | 'string'
  /** Several strings: labels, color_names, color_palette_hex. */
  | 'strings'
  /** Several 64-bit integers: copyspace. */
  | 'longs'
  /** Several decimal numbers: color_palette_freq. */
  | 'doubles'
  /** Latitude and longitude. */
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
  | readonly number[];

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** What defined the field: akin itself, an analysis module, or the first document with this field. */
  readonly origin: 'preconfigured' | 'analysis' | 'document';
  /** False for outputs such as descriptors: a search returns them only when `fl` names them. */
  readonly returnedByDefault: boolean;
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
