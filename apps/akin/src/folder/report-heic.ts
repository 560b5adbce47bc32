import { findHeicDecoder, HEIC_PACKAGE, installCommand } from '@akin/imaging';
import { candidatesOf } from './candidates.ts';

/**
 * Says before a run that it will skip HEIC photos, and how to read them. It looks at names only, not at files.
 *
 * @param words as `candidatesOf` takes them; paths on standard input are not considered
 * @param canRead whether the optional package is installed
 */
export async function reportHeic(
  words: readonly string[],
  printLine: (line: string) => void,
  signal: AbortSignal,
  canRead: boolean = findHeicDecoder() !== undefined,
): Promise<void> {
  if (canRead || words.includes('-')) return;
  let count = 0;
  const silent = { onSource: () => {}, onProblem: () => {}, onAbsent: () => {} };
  for await (const { file } of candidatesOf(words, silent, signal)) {
    if (signal.aborted) return;
    if (/\.(heic|heif)$/i.test(file)) count++;
  }
  if (count === 0) return;
  const files = count === 1 ? '1 HEIC file, a photo' : `${count} HEIC files, photos`;
  printLine(
    `${files} as iPhones make them, cannot be read yet: ${installCommand(HEIC_PACKAGE)} (LGPL, docs/heic.md), then run this again.`,
  );
}
