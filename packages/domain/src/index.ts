export * from './dates.ts';
export * from './errors.ts';
export { isJsonArray, type JsonLimits, JsonNumber, JsonObject, type JsonValue, parseJson, parseLong } from './json.ts';
export { type JsonItem, JsonStream, type JsonStreamLimits, readJsonStream } from './json-stream.ts';
export * from './json-write.ts';
export type * from './manifest.ts';
export type * from './query.ts';
export * from './schema.ts';
