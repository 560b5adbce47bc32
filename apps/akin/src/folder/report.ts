import type { FolderReport } from './index-folder.ts';

/** Number of failures that are printed. The rest is only counted. */
const PRINTED_FAILURES = 50;

export function reportText(report: FolderReport): string {
  const { indexed, unchanged, moved, leftOut, missing, returned, removed, absent, refused, failures, stopped } = report;
  const seen = indexed + unchanged + moved + leftOut + missing + removed + failures.length;
  if (!stopped && seen + absent.length + refused.length === 0) {
    return 'No pictures that akin can read were found there.';
  }
  const lines = [
    `${report.indexed} indexed, ${report.unchanged} unchanged, ${report.removed} removed, ${report.failures.length} failed` +
      (report.stopped ? '. Stopped. Run the same command again to continue.' : '.'),
  ];
  if (moved > 0)
    lines.push(`${moved} found at another place. Their documents name it now, and keep all that they had.`);
  if (returned > 0) lines.push(`${returned} missing ${returned === 1 ? 'picture is' : 'pictures are'} back.`);
  for (const one of absent) if (!refused.some(({ folder }) => folder === one)) lines.push(`${one} is not there.`);
  for (const { folder, gone, known } of refused) {
    const what = gone === known ? 'none of its files is there' : `${gone} of its ${known} files are not there`;
    lines.push(
      `${folder}: ${what}. Is its drive connected? Until they are back, the pictures are marked as missing, and --prune keeps them. If the files are really gone: --prune-all.`,
    );
  }
  if (missing > 0)
    lines.push(
      `${missing} ${refused.length > 0 ? 'more ' : ''}${missing === 1 ? 'picture is' : 'pictures are'} marked as missing, until the files are back. --prune removes them.`,
    );
  if (report.videos > 0) {
    lines.push(
      `${report.videos} ${report.videos === 1 ? 'video was' : 'videos were'} left out: akin reads pictures only.`,
    );
  }
  if (report.leftOut > 0) {
    lines.push(`${report.leftOut} skipped, because their documents were deleted. --restore-deleted brings them back.`);
  }
  if (report.failures.length > 0) lines.push('', 'Not indexed:');
  for (const { file, reason } of report.failures.slice(0, PRINTED_FAILURES)) lines.push(`  ${file}: ${reason}`);
  const rest = report.failures.length - PRINTED_FAILURES;
  if (rest > 0) lines.push(`  and ${rest} more`);
  return lines.join('\n');
}

/** 0 if every file is indexed, 2 if some failed or are not there, 130 if the run was stopped. */
export function exitCode(report: FolderReport): number {
  if (report.stopped) return 130;
  return report.failures.length + report.absent.length > 0 ? 2 : 0;
}
