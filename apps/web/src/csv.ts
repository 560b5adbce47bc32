export function saveCsv(name: string, rows: readonly (readonly string[])[]): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([csvOf(rows)], { type: 'text/csv' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A negative number, or a place south of the equator. */
const NUMBERS = /^-[\d.]+(e[+-]?\d+)?(,-?[\d.]+)?$/;

/** Formats CSV by RFC 4180. A value that a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  const safe = (text: string) => (NUMBERS.test(text) ? text : text.replace(/^[=+\-@\t\r]/, "'$&"));
  const cell = (text: string) => `"${safe(text).replaceAll('"', '""')}"`;
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
