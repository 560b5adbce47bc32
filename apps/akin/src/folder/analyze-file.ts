import { promises as fs } from 'node:fs';
import { AkinError } from '@akin/domain';
import { formatBytes, OWN_IMAGE_LIMITS } from '@akin/imaging';
import type { Analysis, Analyzer } from '@akin/modules/analyze';
import { hashOfBytes } from './file-hash.ts';

/**
 * Analyzes a file of this machine. At most as many files are in memory as fit into the budget.
 *
 * @returns also the hash of its bytes
 * @throws AkinError if it is too large, or no picture; Error of the system
 */
export async function analyzeFile(
  analyzer: Pick<Analyzer, 'analyze' | 'files' | 'decoding'>,
  { file, bytes: size }: { readonly file: string; readonly bytes: number },
  options: Omit<Parameters<Analyzer['analyze']>[1], 'limits'> & { readonly signal: AbortSignal },
): Promise<{ analysis: Analysis; hash: number }> {
  const { capacity } = analyzer.decoding;
  if (size > capacity) {
    throw new AkinError(
      'too-large',
      `it has ${formatBytes(size)}, and ${formatBytes(capacity)} of memory are allowed: raise --picture-memory`,
    );
  }
  const release = await analyzer.files.acquire(options.signal, { urgent: options.urgent ?? false, weight: size });
  try {
    const bytes = await fs.readFile(file);
    const analysis = await analyzer.analyze(bytes, { ...options, limits: OWN_IMAGE_LIMITS });
    return { analysis, hash: hashOfBytes(bytes) };
  } finally {
    release();
  }
}
