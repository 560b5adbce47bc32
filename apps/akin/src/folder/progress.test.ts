import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { duration } from '../terminal-line.ts';
import type { FolderReport } from './index-folder.ts';
import { type Counts, Progress, progressLine } from './progress.ts';
import { exitCode, reportText } from './report.ts';

const counts = (change: Partial<Counts>): Counts => ({
  found: 0,
  listingComplete: false,
  done: 0,
  unchanged: 0,
  moved: 0,
  skipped: 0,
  gone: 0,
  returned: 0,
  failed: 0,
  ...change,
});

describe('the progress line', () => {
  it.each([
    [true, 0, ''],
    [true, 1, '░░░░░░░░░░░░░░░░░░░░ 1/0+ pictures'],
    [false, 0, '░░░░░░░░░░░░░░░░░░░░ 0/0+ pictures'],
  ])('is left out of a run that does nothing, if so wanted: %s, %i done', (onlyWork, done, said) => {
    const out = new PassThrough({ encoding: 'utf8' });
    const progress = new Progress(out as unknown as NodeJS.WriteStream, onlyWork);
    progress.counts.done = done;
    progress.finish();
    expect(out.read()?.split(' · ')[0] ?? '').toBe(said);
  });

  it('shows count, rate, time left and failures', () => {
    expect(progressLine(counts({ found: 200, listingComplete: true, done: 90, failed: 10 }), 20)).toBe(
      '██████████░░░░░░░░░░ 100/200 pictures · 5.0/s · 20 s left · 10 failed',
    );
  });

  it('says that more files may be found, and shows no time left then', () => {
    expect(progressLine(counts({ found: 10, done: 5 }), 1)).toBe('██████████░░░░░░░░░░ 5/10+ pictures · 5.0/s');
  });

  it('counts files that are unchanged or skipped as finished, not as work', () => {
    expect(progressLine(counts({ found: 100, listingComplete: true, done: 10, unchanged: 70, skipped: 10 }), 10)).toBe(
      '██████████████████░░ 90/100 pictures · 1.0/s · 10 s left · 70 unchanged · 10 skipped',
    );
  });

  it('starts empty and ends full', () => {
    expect(progressLine(counts({}), 0)).toBe('░░░░░░░░░░░░░░░░░░░░ 0/0+ pictures · 0.0/s');
    expect(progressLine(counts({ listingComplete: true }), 1)).toBe('████████████████████ 0/0 pictures · 0.0/s');
  });
});

it.each([
  [0.2, '1 s'],
  [59.5, '60 s'],
  [61, '1 min'],
  [3599, '1 h 0 min'],
  [3541, '59 min'],
  [9000, '2 h 30 min'],
])('writes %d seconds for people', (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});

describe('the report', () => {
  const report = {
    indexed: 3,
    unchanged: 2,
    moved: 0,
    missing: 0,
    returned: 0,
    removed: 1,
    leftOut: 0,
    videos: 0,
    absent: [],
    refused: [],
    failures: [],
    stopped: false,
  };
  const failures = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ file: `${i}.jpg`, reason: 'broken', code: 'unreadable' }));

  it('contains the counts, and returns the exit code', () => {
    expect(reportText(report)).toBe('3 indexed, 2 unchanged, 1 removed, 0 failed.');
    expect(exitCode(report)).toBe(0);
  });

  it('says that there was no picture at all', () => {
    const none = { ...report, indexed: 0, unchanged: 0, removed: 0 };
    expect(reportText(none)).toBe('No pictures that akin can read were found there.');
    expect(reportText({ ...none, unchanged: 1 })).toBe('0 indexed, 1 unchanged, 0 removed, 0 failed.');
  });

  it('says how many were skipped, and how to bring them back', () => {
    const text = reportText({ ...report, leftOut: 12 });
    expect(text).toContain('12 skipped, because their documents were deleted. --restore-deleted brings them back.');
    expect(exitCode({ ...report, leftOut: 12 })).toBe(0);
  });

  it('names the files that failed, at most fifty', () => {
    const text = reportText({ ...report, failures: failures(52) });
    expect(text).toContain('52 failed');
    expect(text).toContain('\n  49.jpg: broken\n  and 2 more');
    expect(text).not.toContain('50.jpg');
    expect(exitCode({ ...report, failures: failures(1) })).toBe(2);
  });

  it('says what becomes of pictures whose files are gone, and of those on a drive that may not be there', () => {
    const refused = [
      { folder: '/mnt/usb', gone: 4, known: 4 },
      { folder: '/home/me', gone: 3, known: 5 },
    ];
    const lines = (change: Partial<FolderReport>) =>
      reportText({ ...report, ...change })
        .split('\n')
        .slice(1);
    expect(lines({ missing: 1 })).toEqual([
      '1 picture is marked as missing, until the files are back. --prune removes them.',
    ]);
    expect(lines({ refused, missing: 2 }).at(-1)).toMatch(/^2 more pictures are marked as missing/);
    expect(lines({ returned: 2 })).toEqual(['2 missing pictures are back.']);
    expect(lines({ absent: ['/mnt/usb', '/mnt/other'], refused }).at(0)).toBe('/mnt/other is not there.');
    expect(exitCode({ ...report, absent: ['/mnt/usb'] })).toBe(2);
    const drives = lines({ refused, indexed: 0, unchanged: 0, removed: 0 });
    expect(drives).toEqual([
      expect.stringContaining('/mnt/usb: none of its files is there. Is its drive connected?'),
      expect.stringContaining('/home/me: 3 of its 5 files are not there.'),
    ]);
    for (const line of drives) {
      expect(line).toContain('--prune keeps them. If the files are really gone: --prune-all.');
      expect(line).not.toContain('removed');
    }
  });

  it('says how to continue after a stop', () => {
    const stopped = { ...report, stopped: true, failures: failures(1) };
    expect(reportText(stopped)).toContain('Stopped. Run the same command again to continue.');
    expect(exitCode(stopped)).toBe(130);
  });
});
