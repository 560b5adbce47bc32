export type * from './engine/engine.ts';
export { openPglite, type PgliteEngine } from './engine/pglite.ts';
export { openPostgres } from './engine/postgres.ts';
