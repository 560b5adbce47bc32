import { send, timed } from '../lib/http.mjs';
import { akinTable } from './akin-table.mjs';

const LIMIT = 20;

/**
 * Measures facets over HTTP and the bare `group by` over akin's own table, in turns. The bare statement ignores
 * commits.
 */
export async function measureFacets(bare, collectionUrl, rounds) {
  const { table, columnOf } = await akinTable(bare);
  const facets = [
    { field: 'brand', by: columnOf('brand'), from: 'd' },
    { field: 'available', by: columnOf('available'), from: 'd' },
    { field: 'hundredth', by: columnOf('hundredth'), from: 'd' },
    { field: 'labels', by: 'label', from: 'd, unnest(d.labels) label' },
    { field: 'color_names', by: 'name', from: 'd, unnest(d.color_names) name' },
  ];
  const filters = [
    { title: 'everything', fq: '', where: 'true' },
    { title: '10 %', fq: 'tenth:3', where: `d.${columnOf('tenth')} = 3` },
  ];
  const results = filters.flatMap((filter) => facets.map((facet) => ({ filter, facet, akin: [], bare: [] })));
  for (let round = -1; round < rounds; round++) {
    for (const { filter, facet, ...times } of results) {
      const query = new URLSearchParams({
        rows: '0',
        facet: 'true',
        'facet.field': facet.field,
        'facet.limit': `${LIMIT}`,
      });
      if (filter.fq) query.append('fq', filter.fq);
      const akin = await timed(() => send(`${collectionUrl}/select?${query}`));
      const alone = await timed(() =>
        bare.query(
          `select ${facet.by} as value, count(*) from ${table} ${facet.from} where ${filter.where} ` +
            `group by 1 order by 2 desc limit ${LIMIT}`,
        ),
      );
      if (round < 0) continue;
      times.akin.push(akin);
      times.bare.push(alone);
    }
  }
  return results.map(({ filter, facet, akin, bare }) => ({ title: `${facet.field}, ${filter.title}`, akin, bare }));
}
