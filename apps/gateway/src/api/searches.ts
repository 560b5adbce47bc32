import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { handleSearch, type SearchPreset } from '../search/handle-search.ts';

function searchWith(preset: SearchPreset): Handler<ParametersOf<Endpoints['select']>> {
  return (call, context) => handleSearch(call, preset, context);
}

/** It ranks only with `rank.by.*`. */
export const select = searchWith({ ranked: false });

export const query = searchWith({ ranked: false });

export const image = searchWith({ mode: 'content', ranked: true });

export const color = searchWith({ mode: 'color', ranked: true });

export const duplicate = searchWith({ mode: 'duplicate', threshold: 0.7, ranked: true });

export const parts = searchWith({ mode: 'parts', threshold: 0.7, ranked: true });
