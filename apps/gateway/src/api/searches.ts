import type { HandlerFor } from '../http/serve.ts';
import { handleSearch } from '../search/handle-search.ts';

/** Search without a preset. It ranks only with `rank.by.*`. */
export const select: HandlerFor<'select'> = (call, context) => handleSearch(call, { ranked: false }, context);

/** The same as `/select`, with an indented response. */
export const query: HandlerFor<'query'> = (call, context) => handleSearch(call, { ranked: false }, context);

/** Similar pictures. */
export const image: HandlerFor<'image'> = (call, context) =>
  handleSearch(call, { mode: 'content', ranked: true }, context);

export const color: HandlerFor<'color'> = (call, context) =>
  handleSearch(call, { mode: 'color', ranked: true }, context);

export const duplicate: HandlerFor<'duplicate'> = (call, context) =>
  handleSearch(call, { mode: 'duplicate', threshold: 0.7, ranked: true }, context);

/** Pictures that have a part in common with another one. */
export const parts: HandlerFor<'parts'> = (call, context) =>
  handleSearch(call, { mode: 'parts', threshold: 0.7, ranked: true }, context);
