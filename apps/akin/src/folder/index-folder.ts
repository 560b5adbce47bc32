import { promises as fs } from 'node:fs';
import path from 'node:path';
import { AkinRequestError, type Collection, type NewDocument } from '@akin/client';
import { AkinError } from '@akin/domain';
import { DEFAULT_IMAGE_LIMITS } from '@akin/imaging';
import type { Analysis, Analyzer } from '@akin/modules/analyze';
import { moduleNames } from '@akin/modules/manifests';
import { nearestCells, parseOutputs } from '@akin/modules/vectors';
import { NearDuplicates } from './near-duplicates.ts';
import type { Progress } from './progress.ts';
import { type Candidate, reasonOf } from './walk.ts';

export interface FolderRun {
  readonly collection: Collection;
  readonly analyzer: Analyzer;
  /** Pictures that are analyzed at the same time. */
  readonly threads: number;
  readonly candidates: AsyncIterable<Candidate>;
  readonly labelsFromFolders: boolean;
  /** Remove documents of the same folders whose file is gone. */
  readonly prune: boolean;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export interface FolderReport {
  readonly indexed: number;
  readonly unchanged: number;
  readonly removed: number;
  readonly nearDuplicates: number;
  readonly failures: readonly { readonly file: string; readonly reason: string }[];
  /** True when the run was stopped before it had seen every file. */
  readonly stopped: boolean;
}

/** Documents that are sent together: enough to spare round trips, few enough to lose little when stopped. */
const BATCH_DOCUMENTS = 40;
const BATCH_MILLISECONDS = 2_000;
const MOST_ATTEMPTS = 10;

/**
 * Analyzes pictures on all cores and stores them with their outputs and thumbnails. A file whose size and time are
 * those of its document is left as it is, so a run that was stopped goes on where it was.
 *
 * @throws {AkinRequestError} when akin refuses documents or does not answer; a picture that fails is only reported.
 */
export async function indexFolder(run: FolderRun): Promise<FolderReport> {
  const { counts } = run.progress;
  const failures: { file: string; reason: string }[] = [];
  const nearDuplicates = new NearDuplicates();
  await run.collection.commit();
  const stored = await storedFiles(run.collection);
  const walkedIds = new Set<string>();
  const sources = new Set<string>();
  const batch = new Batch(run.collection);
  const underway = new Set<Promise<void>>();
  let broken: unknown;

  const work = async (candidate: Candidate): Promise<void> => {
    try {
      const stat = await fs.stat(candidate.file);
      const before = stored.get(candidate.id);
      if (before?.bytes === stat.size && before.modified === toSeconds(stat.mtime)) {
        counts.unchanged++;
        return;
      }
      if (stat.size > DEFAULT_IMAGE_LIMITS.bytes) {
        throw new AkinError(
          'too-large',
          `it has ${megabytes(stat.size)}; the limit is ${megabytes(DEFAULT_IMAGE_LIMITS.bytes)}`,
        );
      }
      const bytes = await fs.readFile(candidate.file);
      const analysis = await run.analyzer.analyze(bytes, {
        modules: moduleNames,
        thumbnail: true,
        exif: true,
        signal: run.signal,
      });
      const duplicate = parseOutputs(analysis.outputs).descriptors.get('duplicate');
      if (duplicate) nearDuplicates.add(duplicate.vector, nearestCells('duplicate', duplicate.vector));
      await batch.add(toDocument(candidate, stat, analysis, run.labelsFromFolders));
      counts.done++;
    } catch (error) {
      if (run.signal.aborted) return;
      if (error instanceof AkinRequestError) {
        broken ??= error;
        return;
      }
      counts.failed++;
      failures.push({ file: candidate.file, reason: error instanceof AkinError ? error.message : reasonOf(error) });
    }
  };

  for await (const candidate of run.candidates) {
    if (run.signal.aborted || broken) break;
    counts.found++;
    if (walkedIds.has(candidate.id)) {
      counts.failed++;
      failures.push({ file: candidate.file, reason: `another file of this run has the id ${candidate.id} already` });
      continue;
    }
    walkedIds.add(candidate.id);
    sources.add(candidate.source);
    const task = work(candidate).finally(() => underway.delete(task));
    underway.add(task);
    // Twice the threads: the next picture is read from disk while the others are analyzed.
    if (underway.size >= run.threads * 2) await Promise.race(underway);
  }
  await Promise.all(underway);
  if (!broken) await batch.flush();
  if (broken) throw broken;
  counts.complete = true;
  const stopped = run.signal.aborted;
  const removed = run.prune && !stopped ? await prune(run.collection, stored, walkedIds, sources) : 0;
  await run.collection.commit();
  return {
    indexed: counts.done,
    unchanged: counts.unchanged,
    removed,
    nearDuplicates: nearDuplicates.count,
    failures,
    stopped,
  };
}

/** Collects documents and sends them in groups; `add` waits while a group is on its way. */
class Batch {
  readonly #collection: Collection;
  #documents: NewDocument[] = [];
  #since = performance.now();
  #sending: Promise<unknown> = Promise.resolve();

  constructor(collection: Collection) {
    this.#collection = collection;
  }

  async add(document: NewDocument): Promise<void> {
    this.#documents.push(document);
    const due = performance.now() - this.#since > BATCH_MILLISECONDS;
    if (this.#documents.length >= BATCH_DOCUMENTS || due) await this.flush();
  }

  async flush(): Promise<void> {
    const documents = this.#documents;
    this.#documents = [];
    this.#since = performance.now();
    if (documents.length === 0) return this.#sending.then(() => undefined);
    this.#sending = this.#sending.then(() => this.#send(documents));
    await this.#sending;
  }

  /** Sends again what a busy akin asked to send later; the same ids make that harmless. */
  async #send(documents: readonly NewDocument[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#collection.add(documents, { commitWithin: BATCH_MILLISECONDS });
        return;
      } catch (error) {
        const busy = error instanceof AkinRequestError && [429, 503].includes(error.status);
        if (!busy || attempt === MOST_ATTEMPTS) throw error;
        await new Promise((resolve) => setTimeout(resolve, (error.retryAfterSeconds ?? 1) * 1000));
      }
    }
  }
}

interface StoredFile {
  readonly bytes: number;
  readonly modified: string;
  readonly source: string;
}

/** What earlier runs stored, by id. */
async function storedFiles(collection: Collection): Promise<Map<string, StoredFile>> {
  const stored = new Map<string, StoredFile>();
  const { fields } = (await collection.schema()).schema;
  if (!fields.some((field) => field.name === 'source') || !fields.some((field) => field.name === 'modified'))
    return stored;
  for await (const document of collection.all({ q: 'source:* AND modified:*', fl: 'id,bytes,modified,source' })) {
    const { id, bytes, modified, source } = document;
    stored.set(id, { bytes: Number(bytes), modified: String(modified), source: String(source) });
  }
  return stored;
}

async function prune(
  collection: Collection,
  stored: ReadonlyMap<string, StoredFile>,
  walkedIds: ReadonlySet<string>,
  sources: ReadonlySet<string>,
): Promise<number> {
  const gone = [...stored].filter(([id, file]) => sources.has(file.source) && !walkedIds.has(id)).map(([id]) => id);
  for (let start = 0; start < gone.length; start += 1000) await collection.deleteByIds(gone.slice(start, start + 1000));
  return gone.length;
}

function toDocument(
  candidate: Candidate,
  stat: { size: number; mtime: Date },
  analysis: Analysis,
  labelsFromFolders: boolean,
): NewDocument {
  const folder = path.posix.dirname(candidate.id);
  const { taken, camera, location } = analysis.exif ?? {};
  return {
    id: candidate.id,
    title: path.posix.basename(candidate.id),
    folder: folder === '.' ? '/' : folder,
    source: candidate.source,
    width: analysis.width,
    height: analysis.height,
    bytes: stat.size,
    modified: toSeconds(stat.mtime),
    ...(labelsFromFolders && folder !== '.' ? { labels: folder.split('/') } : {}),
    ...(taken ? { taken: taken.toISOString() } : {}),
    ...(camera ? { camera } : {}),
    ...(location ? { location: `${location.lat},${location.lon}` } : {}),
    import: analysis.outputs,
    ...(analysis.thumbnail ? { thumbnail: Buffer.from(analysis.thumbnail).toString('base64') } : {}),
  };
}

/** Whole seconds, because not every file system keeps more. */
function toSeconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
