import { promises as fs } from 'node:fs';
import path from 'node:path';
import type { Collection, NewDocument } from '@akin/client';
import type { Analyzer } from '@akin/modules/analyze';
import { moduleNames } from '@akin/modules/manifests';
import { type DemoDocument, demoVersion, drawDemo } from './index.ts';

export interface DemoRun {
  readonly collection: Collection;
  readonly analyzer: Analyzer;
  readonly dataFolder: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Documents that are sent together; the page shows them as they come. */
const BATCH_DOCUMENTS = 32;

/**
 * Draws the demo and stores it in an empty collection. What is there already stays: a collection that holds other
 * documents is left alone, and one whose demo was finished in an earlier start is not filled again.
 */
export async function fillWithDemo(run: DemoRun): Promise<void> {
  const folder = path.join(run.dataFolder, 'demo');
  const marker = path.join(folder, `${run.collection.name}.filled`);
  const filled = await readOrNull(marker);
  if (filled === demoVersion) return;
  // A marker without a version stands from the first batch to the last: an interrupted fill goes on.
  const { documents: count } = await run.collection.status();
  if (filled === null && count > 0) return;
  run.say('Drawing the demo …');
  const documents = await drawDemo(folder, run.signal);
  await fs.writeFile(marker, '');
  for (let start = 0; start < documents.length && !run.signal.aborted; start += BATCH_DOCUMENTS) {
    const part = documents.slice(start, start + BATCH_DOCUMENTS);
    const ready = await Promise.all(part.map((document) => analyzed(document, run)));
    if (run.signal.aborted) return;
    await run.collection.add(ready, { commit: true });
    run.say(`Demo: ${start + part.length} of ${documents.length} pictures`);
  }
  if (!run.signal.aborted) await fs.writeFile(marker, demoVersion);
}

async function analyzed({ file, ...fields }: DemoDocument, run: DemoRun): Promise<NewDocument> {
  const { outputs, thumbnail } = await run.analyzer.analyze(await fs.readFile(file), {
    modules: moduleNames,
    thumbnail: true,
    signal: run.signal,
  });
  return { ...fields, import: outputs, thumbnail: Buffer.from(thumbnail ?? []).toString('base64') };
}

async function readOrNull(file: string): Promise<string | null> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch {
    return null;
  }
}
