import { duration, TerminalLine } from '../terminal-line.ts';

export interface BulkCounts {
  readonly documents: number;
  readonly failed: number;
  /** From 0 to 1, if it is known. */
  readonly share: number | undefined;
  readonly note: string;
}

export function bulkProgressLine(out: NodeJS.WriteStream, counts: () => BulkCounts): TerminalLine {
  const before = counts().documents;
  return new TerminalLine(out, (seconds) => bulkLine(counts(), before, seconds));
}

/** @param before documents of earlier runs, which are not part of the rate of this run */
function bulkLine(counts: BulkCounts, before: number, seconds: number): string {
  const { documents, failed, share, note } = counts;
  const rate = seconds > 0 ? (documents - before) / seconds : 0;
  const left = share !== undefined && share > 0.01 && share < 1 ? (seconds * (1 - share)) / share : undefined;
  return [
    `${documents.toLocaleString('en')} documents`,
    `${rate.toFixed(0)}/s`,
    share === undefined ? '' : `${(share * 100).toFixed(0)} %`,
    left === undefined ? '' : `${duration(left)} left`,
    failed > 0 ? `${failed.toLocaleString('en')} failed` : '',
    note,
  ]
    .filter(Boolean)
    .join(' · ');
}
