import { AkinError, type Query } from '@akin/domain';
import { scaledByChaos } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyQuery, parsed } from '../../test/any-query.ts';
import { ids, searchShop } from '../../test/search-shop.ts';
import type { SearchRequest } from './request.ts';

const RUNS = scaledByChaos(150);

/** The ids of a result, or `bad-request` if the request is invalid. Other errors are thrown. */
async function outcomeOf(search: () => Promise<string>): Promise<string> {
  try {
    return await search();
  } catch (error) {
    if (error instanceof AkinError && error.code === 'bad-request') return 'bad-request';
    throw error;
  }
}

describe('any query', () => {
  const engines = [searchShop('pglite'), searchShop('postgres')];

  const check = async (request: Omit<SearchRequest, 'rows'>) => {
    const { query, ...rest } = request;
    const outcomes = [];
    for (const { ask } of engines) {
      outcomes.push(
        await outcomeOf(async () => {
          const result = await ask({ query, rows: 10, ...rest });
          return `${result.numFound} ${ids(result)} ${JSON.stringify(result.facets)}`;
        }),
      );
    }
    expect(outcomes[1]).toBe(outcomes[0]);
  };

  it('gets the same result from both databases, or is refused, wherever it is used', async () => {
    let read = 0;
    await fc.assert(
      fc.asyncProperty(anyQuery, async (text) => {
        const query = parsed(text);
        if (query === undefined) return;
        read++;
        const all: Query = { kind: 'all' };
        await check({ query, sort: [{ name: 'id', direction: 'asc' }] });
        await check({ query, scores: true });
        await check({ query: all, filters: [query], facets: [{ kind: 'query', query }] });
        await check({ query: { kind: 'bool', must: [all], should: [], mustNot: [query] } });
      }),
      { numRuns: RUNS },
    );
    expect(read).toBeGreaterThan(RUNS / 4);
  });
});
