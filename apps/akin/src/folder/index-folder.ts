import { promises as fs } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { AkinRequestError, type Collection, type NewDocument } from '@akin/client';
import { AkinError, titleOfFile } from '@akin/domain';
import { DEFAULT_IMAGE_LIMITS, toFields } from '@akin/imaging';
import type { Analysis, Analyzer } from '@akin/modules/analyze';
import { moduleNames } from '@akin/modules/manifests';
import { decodeDescriptor } from '@akin/modules/vectors';
import { Batch } from './batch.ts';
import { NearDuplicates } from './near-duplicates.ts';
import type { Counts, Failure, Progress } from './progress.ts';
import { type Candidate, namesOf, reasonOf, type WalkListener } from './walk.ts';

export interface FolderRun {
  readonly collection: Collection;
  readonly analyzer: Analyzer;
  /** Content model. Default: that of the process. */
  readonly model?: string | undefined;
  /** Number of pictures that are analyzed at the same time. */
  readonly threads: number;
  readonly candidates: (listener: WalkListener) => AsyncIterable<Candidate>;
  readonly labelsFromFolders: boolean;
  /** Replace documents also if their files are in another folder, and still there. */
  readonly replaceOthers: boolean;
  /** Remove documents of the same folders whose file no longer exists. */
  readonly prune: boolean;
  /** Also index files whose documents were deleted on purpose. */
  readonly restoreDeleted: boolean;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export interface FolderReport {
  readonly indexed: number;
  readonly unchanged: number;
  /** Files that were not indexed because their documents were deleted on purpose. */
  readonly leftOut: number;
  readonly removed: number;
  readonly nearDuplicates: number;
  readonly failures: readonly Failure[];
  /** True when the run was stopped before it had seen every file. */
  readonly stopped: boolean;
}

/**
 * Analyzes pictures on all cores and stores them with their outputs and thumbnails. A file with the same size and time
 * as its document is skipped, so a stopped run continues where it was. A file whose document was deleted on purpose is
 * skipped, too. A file whose id belongs to a file of another folder is reported.
 *
 * @throws {AkinRequestError} if akin refuses documents or does not answer. A picture that fails is only reported.
 */
export async function indexFolder(run: FolderRun): Promise<FolderReport> {
  const { counts, failures } = run.progress;
  const fail = (file: string, code: string, reason: string) => run.progress.fail({ file, code, reason });
  const conflict = ({ file, id }: Candidate, namesake: string) =>
    fail(file, 'conflict', `its id, ${id}, is that of ${namesake} already`);
  const nearDuplicates = new NearDuplicates();
  await run.collection.commit();
  const stored = await storedFiles(run.collection);
  const deleted = run.restoreDeleted ? new Map<string, FileState>() : await deletedFiles(run.collection);
  const fileOfId = new Map<string, string>();
  const sources = new Set<string>();
  const batch = new Batch(run.collection, (id, reason) => {
    counts.done--;
    fail(fileOfId.get(id) ?? id, 'bad-request', reason);
  });
  const underway = new Set<Promise<void>>();
  let broken: unknown;

  const work = async (candidate: Candidate): Promise<void> => {
    try {
      const stat = await fs.stat(candidate.file);
      const known = stored.get(candidate.id);
      const other = known !== undefined && known.source !== candidate.source ? known.source : undefined;
      const isMoved = other !== undefined && (await isGone(other, candidate.id));
      if (other !== undefined && !isMoved && !run.replaceOthers && !(await isFileIn(other, candidate.id, stat))) {
        conflict(candidate, path.join(other, candidate.id));
        return;
      }
      if (isCurrent(known, stat, run.labelsFromFolders ? folderLabels(candidate.id) : [])) {
        if (isMoved) {
          counts.done++;
          await batch.add({ id: candidate.id, source: { set: candidate.source } });
        } else counts.unchanged++;
        return;
      }
      if (isSameFile(deleted.get(candidate.id), stat)) {
        counts.skipped++;
        return;
      }
      if (stat.size > DEFAULT_IMAGE_LIMITS.bytes) {
        throw new AkinError(
          'too-large',
          `it has ${megabytes(stat.size)}; the limit is ${megabytes(DEFAULT_IMAGE_LIMITS.bytes)}`,
        );
      }
      const analysis = await analyzeFile(run, candidate.file, stat.size);
      const { duplicate_descriptor: duplicate } = JSON.parse(analysis.outputs) as { duplicate_descriptor?: string };
      if (duplicate) nearDuplicates.add(decodeDescriptor(duplicate, 'duplicate'));
      counts.done++;
      await batch.add(toDocument(candidate, stat, analysis, run.labelsFromFolders));
    } catch (error) {
      if (run.signal.aborted) return;
      if (error instanceof AkinRequestError) {
        broken ??= error;
        return;
      }
      if (error instanceof AkinError) fail(candidate.file, error.code, error.message);
      else fail(candidate.file, 'unreadable', reasonOf(error));
    }
  };

  const listener: WalkListener = {
    onSource: (folder) => sources.add(folder),
    onProblem(file, reason) {
      counts.found++;
      fail(file, 'unreadable', reason);
    },
  };
  for await (const candidate of readAhead(run.candidates(listener), counts)) {
    if (run.signal.aborted || broken) break;
    const namesake = fileOfId.get(candidate.id);
    if (namesake === candidate.file) {
      counts.found--;
      continue;
    }
    if (namesake !== undefined) {
      conflict(candidate, namesake);
      continue;
    }
    fileOfId.set(candidate.id, candidate.file);
    const task = work(candidate).finally(() => underway.delete(task));
    underway.add(task);
    // Twice the threads: the next picture is read from disk while others are analyzed.
    if (underway.size >= run.threads * 2) await Promise.race(underway);
  }
  await Promise.all(underway);
  if (!broken) await batch.flush();
  if (broken) throw broken;
  const stopped = run.signal.aborted;
  const removed = run.prune && !stopped ? await prune(run.collection, stored, fileOfId, sources) : 0;
  await run.collection.commit();
  return {
    indexed: counts.done,
    unchanged: counts.unchanged,
    leftOut: counts.skipped,
    removed,
    nearDuplicates: nearDuplicates.count,
    failures,
    stopped,
  };
}

/** Keeps at most as many files in memory as fit into the budget. */
async function analyzeFile({ analyzer, model, signal }: FolderRun, file: string, size: number): Promise<Analysis> {
  const release = await analyzer.files.acquire(false, signal, size);
  try {
    const bytes = await fs.readFile(file);
    const facts = { name: path.basename(file) };
    return await analyzer.analyze(bytes, { model, modules: moduleNames, thumbnail: true, facts, signal });
  } finally {
    release();
  }
}

/**
 * Yields the candidates while it looks for further ones as fast as it can: the total is known long before the work is
 * done. Updates `found` and `complete`.
 */
function readAhead(candidates: AsyncIterable<Candidate>, counts: Counts): AsyncIterable<Candidate> {
  async function* counted() {
    for await (const candidate of candidates) {
      counts.found++;
      yield candidate;
    }
    counts.listingComplete = true;
  }
  return Readable.from(counted(), { highWaterMark: Number.MAX_SAFE_INTEGER });
}

/** Size and time of a file when it was indexed. */
interface FileState {
  readonly bytes: number;
  readonly modified: string;
}

interface StoredFile extends FileState {
  readonly source: string;
  readonly labels: readonly unknown[];
}

/** Documents that earlier runs stored, by id. */
async function storedFiles(collection: Collection): Promise<Map<string, StoredFile>> {
  const stored = new Map<string, StoredFile>();
  const { fields } = (await collection.schema()).schema;
  const isKnown = (name: string) => fields.some((field) => field.name === name);
  if (!isKnown('source') || !isKnown('modified')) return stored;
  for await (const document of collection.all({
    q: 'source:* AND modified:*',
    fl: 'id,bytes,modified,source,labels',
  })) {
    const { id, bytes, modified, source, labels } = document;
    stored.set(id, {
      bytes: Number(bytes),
      modified: String(modified),
      source: String(source),
      labels: Array.isArray(labels) ? labels : [],
    });
  }
  return stored;
}

/** Files whose documents were deleted on purpose, by id. */
async function deletedFiles(collection: Collection): Promise<Map<string, FileState>> {
  const deleted = new Map<string, FileState>();
  for await (const { id, bytes, modified } of collection.allTombstones()) deleted.set(id, { bytes, modified });
  return deleted;
}

function isSameFile(known: FileState | undefined, stat: { size: number; mtime: Date }): boolean {
  return known?.bytes === stat.size && known.modified === toSeconds(stat.mtime);
}

/** Whether a document matches the file as it is now, with the labels that this run would set. */
function isCurrent(
  document: StoredFile | undefined,
  stat: { size: number; mtime: Date },
  labels: readonly string[],
): boolean {
  return isSameFile(document, stat) && labels.every((label) => document?.labels.includes(label));
}

/**
 * Removes the documents of these folders whose file does not exist. A document whose file was only not named this time
 * stays.
 */
async function prune(
  collection: Collection,
  stored: ReadonlyMap<string, StoredFile>,
  walked: ReadonlyMap<string, unknown>,
  sources: ReadonlySet<string>,
): Promise<number> {
  const gone: string[] = [];
  for (const [id, { source }] of stored) {
    if (sources.has(source) && !walked.has(id) && (await isGone(source, id))) gone.push(id);
  }
  for (let start = 0; start < gone.length; start += 1000) {
    // Leaves no tombstones, because these were not deleted on purpose: a file that comes back is indexed again.
    await collection.deleteByIds(gone.slice(start, start + 1000), { tombstones: false });
  }
  return gone.length;
}

async function isGone(source: string, id: string): Promise<boolean> {
  for (const name of namesOf(id)) {
    const gone = await fs.lstat(path.join(source, name)).then(
      () => false,
      ({ code }) => code === 'ENOENT' || code === 'ENOTDIR',
    );
    if (!gone) return false;
  }
  return true;
}

/** Whether the file of an id in a folder is this one, by another path. */
async function isFileIn(source: string, id: string, { dev, ino }: { dev: number; ino: number }): Promise<boolean> {
  for (const name of namesOf(id)) {
    const found = await fs.stat(path.join(source, name)).catch(() => undefined);
    if (found?.dev === dev && found.ino === ino) return true;
  }
  return false;
}

function folderLabels(id: string): string[] {
  return id.split('/').slice(0, -1);
}

function toDocument(
  candidate: Candidate,
  stat: { size: number; mtime: Date },
  analysis: Analysis,
  labelsFromFolders: boolean,
): NewDocument {
  const folder = path.posix.dirname(candidate.id);
  const { facts = {} } = analysis;
  const labels = [...(labelsFromFolders ? folderLabels(candidate.id) : []), ...(facts.keywords ?? [])];
  return {
    id: candidate.id,
    title: titleOfFile(candidate.id),
    folder: folder === '.' ? '/' : folder,
    source: candidate.source,
    width: analysis.width,
    height: analysis.height,
    bytes: stat.size,
    modified: toSeconds(stat.mtime),
    ...(labels.length > 0 ? { labels } : {}),
    ...toFields(facts),
    import: analysis.outputs,
    ...(analysis.thumbnail ? { thumbnail: Buffer.from(analysis.thumbnail).toString('base64') } : {}),
  };
}

/** Whole seconds, because not every file system stores more. */
function toSeconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
