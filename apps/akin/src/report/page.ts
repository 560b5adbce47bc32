import { AVERAGE_PRECISION_CUTOFF, type LabelMeasures, type Measures } from './measure.ts';

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#222}table{border-collapse:collapse;margin:1rem 0}td,th{padding:.3rem .8rem;border-bottom:1px solid #ddd;text-align:left}img{height:5rem;margin:2px;vertical-align:top}.query{outline:3px solid #246;margin-right:1rem}';

/**
 * The page of a report: measures next to each other, and examples.
 *
 * @param pictureOf the URL of a document's thumbnail
 */
export function reportPage(
  reports: readonly Measures[],
  pictureOf: (collection: string, id: string) => string,
): string {
  const rows: [string, (one: Measures) => string][] = [
    ['Model', ({ model }) => model ?? 'none yet'],
    ['Documents', ({ documents }) => String(documents)],
    ['Documents in the sample', ({ sampled }) => String(sampled)],
    ['Without a descriptor', ({ withoutDescriptor }) => percent(withoutDescriptor)],
    ['Recall at 10, against an exact search', ({ recallAt10 }) => recallAt10.toFixed(3)],
    ['Score of the nearest (10, 50, 90 %)', ({ nearestScores }) => scores(nearestScores)],
    ['Score of the tenth nearest (10, 50, 90 %)', ({ tenthScores }) => scores(tenthScores)],
    ['With a near-duplicate', ({ nearDuplicates }) => percent(nearDuplicates)],
    [`By labels: mAP at ${AVERAGE_PRECISION_CUTOFF}`, ({ labels }) => labelled(labels?.all, 'map')],
    ['By labels: precision at 1', ({ labels }) => labelled(labels?.all, 'precisionAt1')],
  ];
  const names = reports.map(({ collection }) => `<th>${escapeHtml(collection)}</th>`).join('');
  const table = rows.map(([title, read]) => row(title, reports.map(read))).join('');
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>akin report</title><style>${STYLE}</style>
<h1>akin report</h1><table><tr><th></th>${names}</tr>${table}</table>
${labelTable(reports)}${examples(reports, pictureOf)}</html>
`;
}

function labelTable(reports: readonly Measures[]): string {
  const names = [...new Set(reports.flatMap(({ labels }) => [...(labels?.byLabel.keys() ?? [])]))].sort();
  if (names.length === 0) return '';
  const head = reports
    .map(({ collection }) => `<th>${escapeHtml(collection)}: mAP</th><th>precision at 1</th>`)
    .join('');
  const body = names.map((name) => {
    const values = reports.flatMap(({ labels }) => {
      const one = labels?.byLabel.get(name);
      return [labelled(one, 'map'), labelled(one, 'precisionAt1')];
    });
    return row(name, values);
  });
  return `<h2>By label</h2><table><tr><th></th>${head}</tr>${body.join('')}</table>`;
}

function examples(reports: readonly Measures[], pictureOf: (collection: string, id: string) => string): string {
  const image = (collection: string, id: string, note: string, className = '') =>
    `<img loading="lazy" class="${className}" src="${escapeHtml(pictureOf(collection, id))}" alt="${escapeHtml(id)}" title="${escapeHtml(note)}">`;
  const ids = [...new Set(reports.flatMap((one) => one.examples.map(({ id }) => id)))];
  const blocks = ids.map((id) => {
    const lines = reports.flatMap(({ collection, examples }) => {
      const found = examples.find((one) => one.id === id);
      if (found === undefined) return [];
      const nearest = found.nearest.map((one) => image(collection, one.id, `${one.id} ${one.score.toFixed(2)}`));
      return [`<div>${image(collection, id, id, 'query')}${nearest.join('')} ${escapeHtml(collection)}</div>`];
    });
    return `<h3>${escapeHtml(id)}</h3>${lines.join('')}`;
  });
  return `<h2>Examples</h2>${blocks.join('\n')}`;
}

function row(title: string, values: readonly string[]): string {
  return `<tr><th>${escapeHtml(title)}</th>${values.map((value) => `<td>${escapeHtml(value)}</td>`).join('')}</tr>`;
}

function labelled(one: LabelMeasures | undefined, key: 'map' | 'precisionAt1'): string {
  return one === undefined || one.documents === 0 ? '–' : `${one[key].toFixed(3)} (${one.documents})`;
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
const scores = (values: readonly number[]) => values.map((value) => value.toFixed(2)).join(', ');

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
