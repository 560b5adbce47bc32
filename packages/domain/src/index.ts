export * from './errors.ts';
export type * from './manifest.ts';
export type * from './query.ts';
export * from './schema.ts';
