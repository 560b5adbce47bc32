import { duration, TerminalLine } from '../terminal-line.ts';

export interface BulkCounts {
  readonly documents: number;
  readonly failed: number;
  /** From 0 to 1, if it is known. */
  readonly share: number | undefined;
  readonly note: string;
}

export function bulkProgressLine(out: NodeJS.WriteStream, counts: () => BulkCounts): TerminalLine {
  const before = counts();
  return new TerminalLine(out, (seconds) => bulkLine(counts(), before, seconds));
}

/** @param before what earlier runs did, which is not part of the rate of this run */
export function bulkLine(counts: BulkCounts, before: BulkCounts, seconds: number): string {
  const { documents, failed, share, note } = counts;
  const rate = seconds > 0 ? (documents - before.documents) / seconds : 0;
  const done = (share ?? 0) - (before.share ?? 0);
  const left = share !== undefined && done > 0.01 && share < 1 ? (seconds * (1 - share)) / done : undefined;
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
