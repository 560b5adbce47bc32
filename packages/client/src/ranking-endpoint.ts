import type { SearchParameters } from './types.ts';

/** Search endpoints. */
export type SearchEndpoint = 'select' | 'image' | 'color' | 'duplicate' | 'parts';

const ENDPOINT_OF_MODE: ReadonlyMap<string, SearchEndpoint> = new Map([
  ['content', 'image'],
  ['color', 'color'],
  ['duplicate', 'duplicate'],
  ['parts', 'parts'],
]);

/**
 * Returns the endpoint of a search that ranks by a module: the module's endpoint, or `/select` with the module as
 * `rank.mode`.
 *
 * @param mode the name of the module
 */
export function rankingEndpoint(mode: string): { endpoint: SearchEndpoint; preset: SearchParameters } {
  const endpoint = ENDPOINT_OF_MODE.get(mode);
  return endpoint ? { endpoint, preset: {} } : { endpoint: 'select', preset: { 'rank.mode': mode } };
}
