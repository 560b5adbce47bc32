// Formats numbers of several rounds as docs/benchmarks.md quotes them.

/**
 * The value below which a share of the values lies, by the nearest rank.
 *
 * @param {readonly number[]} values
 * @param {number} share 0 to 1
 */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** @param {readonly number[]} values */
export const median = (values) => quantile(values, 0.5);

/** Formats values as `median (min to max)`. */
export function spread(values, digits = 1) {
  return `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;
}

/** Formats values as `p50 / p95`, or with other shares. */
export function quantiles(values, shares = [0.5, 0.95], digits = 1) {
  return shares.map((share) => quantile(values, share).toFixed(digits)).join(' / ');
}

/** Returns a ratio for each round, because a machine that slows down slows both sides of a round alike. */
export function ratios(above, below) {
  return above.map((value, i) => value / below[i]);
}

/** @param {string} title @param {readonly (readonly string[])[]} rows the first row is the head */
export function printTable(title, rows) {
  console.log(`\n${title}\n\n${tableText(rows)}`);
}

/** Formats a table in Markdown. The first row is the head. */
export function tableText(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`);
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
  return lines.join('\n');
}
