import { median, quantile } from '../lib/figures.mjs';

/** What was aimed at and what came out, as rows of a table. */
export function goals(report) {
  const rows = [];
  const add = (goal, wanted, is) => rows.push([goal, wanted, is]);
  if (report.ranked) rankedGoals(report, add);
  if (report.facets) {
    const everything = report.facets.filter(({ title }) => title.endsWith('everything'));
    add('facets over everything / bare group by, worst', '≤ 1.5', times(Math.max(...everything.map(ratioOfMedians))));
  }
  if (report.disturbance) disturbanceGoals(report.disturbance, add);
  return rows;
}

function rankedGoals({ ranked, others, engine }, add) {
  const sides = ranked.map(({ sides }) => sides[0]);
  const [unfiltered, ...filtered] = sides;
  const recall = ({ recalls }) => recalls.reduce((a, b) => a + b, 0) / recalls.length;
  const p95 = ({ times }) => quantile(times, 0.95);
  add('recall@10 without a filter', '≥ 0.98', recall(unfiltered).toFixed(3));
  add('recall@10 under a filter, least', '≥ 0.95', Math.min(...filtered.map(recall)).toFixed(3));
  add('short pages', '0', String(sides.reduce((total, { short }) => total + short, 0)));
  add('p95 under a filter / without, worst', '≤ 8', times(Math.max(...filtered.map(p95)) / p95(unfiltered)));

  const graphs = ranked[0].sides.filter(({ title }) => title.startsWith('graph in SQL'));
  if (graphs.length > 0) {
    // As good as akin; where none is, the best there is.
    const equal = graphs.filter((graph) => recall(graph) >= recall(unfiltered));
    const [graph] = (equal.length > 0 ? equal : graphs).toSorted((a, b) =>
      equal.length > 0 ? median(a.times) - median(b.times) : recall(b) - recall(a),
    );
    const ratio = median(unfiltered.times) / median(graph.times);
    add(`p50 without a filter / ${graph.title} (recall ${recall(graph).toFixed(3)})`, '≤ 1', times(ratio));
    for (const { title, sides } of ranked.filter(({ title }) => ['0.1 %', '0.01 %'].includes(title))) {
      const unlimited = sides.find((side) => side.title.endsWith('unlimited'));
      add(
        `unlimited iterative scan / akin, p50 at ${title}`,
        '≥ 100',
        times(median(unlimited.times) / median(sides[0].times)),
      );
    }
  }
  if (others && engine === 'PGlite') {
    const worst = Math.max(...sides.map(p95)) / p95(others[0]);
    add('ranked p95, worst filter / p95 of a document by its id', '≤ 15', times(worst));
  }
}

function disturbanceGoals(phases, add) {
  const p95 = ({ times }) => quantile(times, 0.95);
  const [idle] = phases;
  const during = phases.filter(({ title }) => title.startsWith('while'));
  const after = phases.filter(({ title }) => title.endsWith('after'));
  add('p95 while a commit is accepted and applied / idle', '≤ 2', times(Math.max(...during.map(p95)) / p95(idle)));
  add(`p95 ${after.at(-1).title} / idle`, '1', times(p95(after.at(-1)) / p95(idle)));
}

const ratioOfMedians = ({ akin, bare }) => median(akin) / median(bare);

const times = (ratio) => `${ratio.toPrecision(3)}`;
