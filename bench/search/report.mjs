import { median, quantile, quantiles, ratios, spread, tableText } from '../lib/figures.mjs';
import { goals } from './goals.mjs';

/** Formats the figures of a run as Markdown. */
export function writeReport(report) {
  const parts = [`${report.documents.toLocaleString('en')} documents on ${report.engine}. ${report.machine}`];
  if (report.load) {
    const { acceptedPerSecond, visiblePerSecond } = report.load;
    parts.push(`Loaded: ${acceptedPerSecond.toFixed(0)} accepted/s, ${visiblePerSecond.toFixed(0)} visible/s.`);
  }
  for (const [name, write] of Object.entries({ likeness, ranked, others, clients, facets, disturbance })) {
    if (report[name]) parts.push(...write(report[name], report));
  }
  const rows = goals(report);
  if (rows.length > 0) parts.push(tableText([['goal', 'wanted', 'is'], ...rows]));
  parts.push(`At the end: ${report.machineAfter}`);
  return `${parts.join('\n\n')}\n`;
}

function likeness(rows) {
  return [
    tableText([
      ['content descriptors', 'nearest', 'tenth', 'intrinsic dimension'],
      ...rows.map(({ title, nearest, tenth, dimension }) => [
        title,
        nearest.toFixed(3),
        tenth.toFixed(3),
        dimension.toFixed(1),
      ]),
    ]),
  ];
}

/** Shows recall@10, p50 / p95 in milliseconds, and how many of all pages are short. */
function ranked(cases) {
  const titles = cases[0].sides.map(({ title }) => title);
  const cell = ({ times, recalls, short }) => {
    if (times.length === 0) return '';
    // A count finds no documents.
    if (recalls.length === 0) return quantiles(times);
    return `${mean(recalls).toFixed(3)}, ${quantiles(times)}${short === 0 ? '' : `, ${short} of ${times.length} short`}`;
  };
  const work = ({ title, sides: [{ times, distances, exact }] }) => [
    title,
    median(distances).toFixed(0),
    `${exact} of ${times.length}`,
  ];
  const always = titles.filter((_, i) => cases.every(({ sides }) => sides[i].times.length > 0));
  const table = (rows, columns) =>
    tableText([
      ['filter', 'matches', ...columns],
      ...rows.map(({ title, matches, sides }) => [
        title,
        median(matches).toFixed(0),
        ...sides.filter((side) => columns.includes(side.title)).map(cell),
      ]),
    ]);
  const [unfiltered] = cases;
  return [
    'recall@10, p50 / p95 ms, short pages',
    table(cases, always),
    tableText([['filter', 'distances of akin, p50', 'known to be exact'], ...cases.map(work)]),
    ...(titles.length > always.length
      ? [
          tableText([
            ['no filter', 'recall@10, p50 / p95 ms'],
            ...unfiltered.sides.map((side) => [side.title, cell(side)]),
          ]),
        ]
      : []),
  ];
}

function others(requests) {
  const [lookup] = requests;
  const p95 = (times) => quantile(times, 0.95);
  return [
    tableText([
      ['request', 'p50 / p95 ms', 'p95 / p95 of the first'],
      ...requests.map(({ title, times }) => [title, quantiles(times), (p95(times) / p95(lookup.times)).toFixed(1)]),
    ]),
  ];
}

/** Shows the searches per second of many simultaneous clients. */
function clients(sides) {
  const [{ perSecond: akin }] = sides;
  return [
    tableText([
      ['16 clients', 'searches/s', 'akin / this'],
      ...sides.map(({ title, perSecond }) => [title, spread(perSecond, 0), median(ratios(akin, perSecond)).toFixed(2)]),
    ]),
  ];
}

function facets(rows) {
  return [
    tableText([
      ['facet over', 'akin p50 / p95 ms', 'bare group by', 'akin / bare'],
      ...rows.map(({ title, akin, bare }) => [
        title,
        quantiles(akin),
        quantiles(bare),
        (median(akin) / median(bare)).toFixed(2),
      ]),
    ]),
  ];
}

function disturbance(phases) {
  const [idle] = phases;
  const p95 = (times) => quantile(times, 0.95);
  return [
    tableText([
      ['searches', 'seconds', 'how many', 'p50 / p95 / max ms', 'p95 / idle'],
      ...phases.map(({ title, times, seconds }) => [
        title,
        seconds.toFixed(1),
        String(times.length),
        quantiles(times, [0.5, 0.95, 1]),
        (p95(times) / p95(idle.times)).toFixed(2),
      ]),
    ]),
  ];
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
