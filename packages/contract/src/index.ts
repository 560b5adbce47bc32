export * from './common.ts';
export * from './endpoint.ts';
export * from './endpoints.ts';
export { REFUSED_SCHEMA_COMMANDS } from './http/schema.ts';
export * from './jobs.ts';
export * from './openapi.ts';
export * from './parameter.ts';
export { RUN_FAILURE } from './run.ts';
export * from './search.ts';
