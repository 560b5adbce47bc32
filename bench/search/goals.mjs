import { median, quantile, ratios } from '../lib/figures.mjs';

/** Milliseconds that the first search under a filter may take in addition to its count. */
const COUNT_SPARE = 5;

/** Returns the goals and the measured results as rows of a table. */
export function goals(report) {
  const rows = [];
  const add = (goal, wanted, is) => rows.push([goal, wanted, is]);
  if (report.ranked) rankedGoals(report, add);
  if (report.others) {
    const [live, lookup] = report.others.map(({ times }) => median(times));
    add('a document by its id / whether akin lives, p50', '≤ 2', ratio(lookup / live));
    if (report.ranked && report.engine === 'PGlite') {
      add('ranked / whether akin lives, p50', '≤ 8', ratio(median(report.ranked[0].sides[0].times) / live));
    }
  }
  if (report.clients) {
    const [akin, graph] = report.clients;
    add(
      'searches/s of 16 clients / graph in memory behind express',
      '≥ 0.2',
      ratio(median(ratios(akin.perSecond, graph.perSecond))),
    );
  }
  if (report.facets) {
    const everything = report.facets.filter(({ title }) => title.endsWith('everything'));
    add('facets over everything / bare group by, worst', '≤ 1.2', ratio(Math.max(...everything.map(ratioOfMedians))));
  }
  if (report.disturbance) disturbanceGoals(report.disturbance, add);
  return rows;
}

function rankedGoals({ ranked }, add) {
  const sides = ranked.map(({ sides }) => sides[0]);
  const [unfiltered, ...filtered] = sides;
  const recall = ({ recalls }) => recalls.reduce((a, b) => a + b, 0) / recalls.length;
  const p95 = ({ times }) => quantile(times, 0.95);
  add('recall@10 without a filter', '≥ 0.99', recall(unfiltered).toFixed(3));
  add('recall@10 under a filter, least', '≥ 0.99', Math.min(...filtered.map(recall)).toFixed(3));
  add('short pages', '0', String(sides.reduce((total, { short }) => total + short, 0)));
  add(
    'p95 under a filter seen before / without, worst',
    '≤ 1.5',
    ratio(Math.max(...filtered.map(p95)) / p95(unfiltered)),
  );
  const first = ranked.slice(1).flatMap(({ sides }) => {
    const akin = sides.find(({ title }) => title.endsWith('new filter'));
    const count = sides.find(({ title }) => title === 'bare count in SQL');
    return count ? [(median(akin.times) - COUNT_SPARE) / median(count.times)] : [];
  });
  if (first.length > 0) {
    add(`(p50 under a new filter - ${COUNT_SPARE} ms) / its bare count, worst`, '≤ 1.4', ratio(Math.max(...first)));
  }

  const graphs = ranked[0].sides.filter(({ title }) => title.startsWith('graph in SQL'));
  if (graphs.length > 0) {
    // Compares akin with the fastest graph that reaches its recall (at most 0.99). If no graph does, compares it with
    // the graph of the highest recall.
    const equal = graphs.filter((graph) => recall(graph) >= Math.min(0.99, recall(unfiltered)));
    const [graph] = (equal.length > 0 ? equal : graphs).toSorted((a, b) =>
      equal.length > 0 ? median(a.times) - median(b.times) : recall(b) - recall(a),
    );
    const share = median(unfiltered.times) / median(graph.times);
    add(`p50 without a filter / ${graph.title} (recall ${recall(graph).toFixed(3)})`, '≤ 0.6', ratio(share));
    for (const [title, wanted] of [
      ['0.1 %', '≥ 20'],
      ['0.01 %', '≥ 300'],
    ]) {
      const { sides } = ranked.find((one) => one.title === title);
      const unlimited = sides.find((side) => side.title.endsWith('unlimited'));
      add(
        `unlimited iterative scan / akin, p50 at ${title}`,
        wanted,
        ratio(median(unlimited.times) / median(sides[0].times)),
      );
    }
  }
}

function disturbanceGoals(phases, add) {
  const p95 = ({ times }) => quantile(times, 0.95);
  const [idle] = phases;
  const during = phases.filter(({ title }) => title.startsWith('while'));
  const after = phases.filter(({ title }) => title.endsWith('after'));
  add('p95 while a commit is accepted and applied / idle', '≤ 1.3', ratio(Math.max(...during.map(p95)) / p95(idle)));
  add(`p95 ${after.at(-1).title} / idle`, '1', ratio(p95(after.at(-1)) / p95(idle)));
}

const ratioOfMedians = ({ akin, bare }) => median(akin) / median(bare);

const ratio = (value) => value.toPrecision(3);
