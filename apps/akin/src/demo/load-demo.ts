import { promises as fs } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Collection, NewDocument } from '@akin/client';
import type { Analyzer } from '@akin/modules/analyze';
import { moduleNames } from '@akin/modules/manifests';
import { modelNames } from '@akin/modules/vectors';
import { openDataFolder } from '../data-folder.ts';
import { modelOf } from '../folder/run-folders.ts';
import type { ContentModels } from '../models/content-models.ts';

export interface DemoRun {
  readonly collection: Collection;
  readonly analyzer: Analyzer;
  readonly models: ContentModels;
  readonly dataFolder: string;
  readonly signal: AbortSignal;
  readonly printLine: (line: string) => void;
}

/** The output of `npm run demo`: fields and outputs of each document. `<id>.webp` is its picture. */
interface DemoFile {
  /** The models that made the outputs. */
  readonly models: string;
  readonly documents: readonly (NewDocument & { readonly id: string })[];
}

/** Increase it when the pictures or documents change: a collection with an older version is then filled again. */
const DEMO_VERSION = '3';
const DEMO = fileURLToPath(new URL('../../demo/', import.meta.url));

/** Number of documents per request. The page shows them as they come. */
const BATCH_DOCUMENTS = 64;

/**
 * Stores the demo in an empty collection. A collection that contains other documents is not changed, also if it
 * contains a part of the demo. A finished demo is not stored again.
 *
 * The demo includes the outputs of akin's own models. With other models its pictures are analyzed.
 */
export async function loadDemo(run: DemoRun): Promise<void> {
  const folder = path.join(run.dataFolder, 'demo');
  const marker = path.join(folder, `${run.collection.name}.filled`);
  const filled = await readOrNull(marker);
  if (filled === DEMO_VERSION) return;
  // A marker without a version exists from the first batch to the last: an interrupted fill continues.
  const status = await run.collection.status();
  const { documents: count } = status;
  if (filled === null && count > 0) return;
  const { models, documents } = JSON.parse(await fs.readFile(path.join(DEMO, 'documents.json'), 'utf8')) as DemoFile;
  if (count > 0 && (await hasOthers(run.collection, new Set(documents.map(({ id }) => id))))) return;
  const model = await modelOf(run.models, status);
  const isOurs = models === modelNames() && (model === undefined || models.includes(`content=${model}`));
  const prepare = isOurs ? withPicture : (document: DemoFile['documents'][number]) => analyzed(document, run, model);
  await openDataFolder(run.dataFolder, run.printLine);
  await fs.mkdir(folder, { recursive: true });
  await fs.writeFile(marker, '');
  for (let start = 0; start < documents.length && !run.signal.aborted; start += BATCH_DOCUMENTS) {
    const part = documents.slice(start, start + BATCH_DOCUMENTS);
    const ready = await Promise.all(part.map((document) => prepare(document)));
    if (run.signal.aborted) return;
    await run.collection.add(ready, { commit: true });
    run.printLine(`Demo: ${start + part.length} of ${documents.length} pictures`);
  }
  if (!run.signal.aborted) await fs.writeFile(marker, DEMO_VERSION);
}

async function hasOthers(collection: Collection, ids: ReadonlySet<string>): Promise<boolean> {
  for await (const { id } of collection.all({ fl: 'id' })) if (!ids.has(id)) return true;
  return false;
}

/** The gateway makes the thumbnail of the picture. */
async function withPicture(document: DemoFile['documents'][number]): Promise<NewDocument> {
  return { ...document, thumbnail: (await pictureOf(document)).toString('base64') };
}

async function analyzed(
  document: DemoFile['documents'][number],
  run: DemoRun,
  model: string | undefined,
): Promise<NewDocument> {
  const { outputs, thumbnail } = await run.analyzer.analyze(await pictureOf(document), {
    model,
    modules: moduleNames,
    thumbnail: true,
    signal: run.signal,
  });
  return { ...document, import: outputs, thumbnail: Buffer.from(thumbnail ?? []).toString('base64') };
}

function pictureOf({ id }: { readonly id: string }): Promise<Buffer> {
  return fs.readFile(path.join(DEMO, `${id}.webp`));
}

async function readOrNull(file: string): Promise<string | null> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch {
    return null;
  }
}
