import path from 'node:path';
import { Readable } from 'node:stream';
import { AkinRequestError, type Collection } from '@akin/client';
import { AkinError } from '@akin/domain';
import { toFields } from '@akin/imaging';
import type { Analysis, Analyzer } from '@akin/modules/analyze';
import { moduleNames } from '@akin/modules/manifests';
import { Absences, type RefusedRoot } from './absences.ts';
import { analyzeFile } from './analyze-file.ts';
import { Batch } from './batch.ts';
import {
  changedDocument,
  existing,
  type FileDocument,
  fieldsOfFile,
  folderLabels,
  newDocument,
} from './file-document.ts';
import { hashOfFile } from './file-hash.ts';
import { hasState, type Match } from './file-match.ts';
import { type KnownPicture, readKnownFiles } from './known-files.ts';
import { FileMatcher } from './match-files.ts';
import { mergeDoubles } from './merge-doubles.ts';
import { NewIds } from './new-ids.ts';
import type { Counts, Failure, Progress } from './progress.ts';
import { compareEdited, type Sameness } from './same-picture.ts';
import { Sidecars } from './sidecars.ts';
import { readStoredPictures, type StoredPicture } from './stored-pictures.ts';
import { type Candidate, isGone, realOf, reasonOf, type WalkListener } from './walk.ts';

export interface FolderRun {
  readonly collection: Collection;
  readonly analyzer: Analyzer;
  /** Content model. Default: that of the process. */
  readonly model?: string | undefined;
  /** The modules of the collection. Default: all that are not optional. */
  readonly modules?: readonly string[] | undefined;
  readonly threads: number;
  readonly candidates: (listener: WalkListener) => AsyncIterable<Candidate>;
  readonly labelsFromFolders: boolean;
  /**
   * Only pictures that have a document in this collection, under the same ids. Default: all pictures.
   */
  readonly picturesOf?: Collection | undefined;
  /** Compare the contents of all files, even if their sizes and times are the same. */
  readonly again: boolean;
  /** Remove documents of the same folders whose file no longer exists. */
  readonly prune: 'none' | 'usual' | 'all';
  /** Also index files whose documents were deleted on purpose. */
  readonly restoreDeleted: boolean;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export interface FolderReport {
  readonly indexed: number;
  readonly unchanged: number;
  readonly moved: number;
  /** Files that were not indexed because their documents were deleted on purpose. */
  readonly leftOut: number;
  /** Documents that are marked because their files are gone, and that --prune would remove. */
  readonly missing: number;
  /** Documents that were marked so, and whose files are back. */
  readonly returned: number;
  readonly removed: number;
  /** Paths that were named, absolute, and where nothing is. */
  readonly absent: readonly string[];
  /** Folders with so many files gone that they may not be there at all: their documents are marked and kept. */
  readonly refused: readonly RefusedRoot[];
  readonly videos: number;
  readonly failures: readonly Failure[];
  /** True when the run was stopped before it had seen every file. */
  readonly stopped: boolean;
}

type FileMatch = Match<KnownPicture, Candidate>;

/** A file with another content, whose document may be of another picture. */
interface Edit {
  readonly known: KnownPicture;
  readonly found: Candidate;
  readonly hash: number;
  readonly analysis: Analysis;
  readonly labels: readonly string[];
  readonly stored: StoredPicture | undefined;
}

const READ_DOCUMENTS = 100;

/** The file where its document has it: a link that leads to it does not become its place. */
function ownPlace(match: FileMatch): Candidate {
  const { found } = match;
  if (match.kind === 'new' || match.kind === 'copied' || found.target !== match.known.place) return found;
  const { source, path: relative, place } = match.known;
  return { ...found, source, path: relative, place };
}

/**
 * Analyzes pictures on all cores and stores them with their outputs and thumbnails. Each file keeps its document,
 * wherever it is found ({@link FileMatcher}), and of the document only what the file owns is changed. A file with the
 * same size and times is skipped, so a stopped run continues where it was. A file whose document was deleted on purpose
 * is skipped, too.
 *
 * @throws {AkinRequestError} if akin refuses documents or does not answer. A picture that fails is only reported.
 */
export async function indexFolder(run: FolderRun): Promise<FolderReport> {
  const { collection, progress } = run;
  const { counts, failures } = progress;
  const sidecars = new Sidecars();
  await collection.commit();
  const known = await readKnownFiles(run.picturesOf ?? collection);
  const matcher = new FileMatcher<KnownPicture, Candidate>(known, run.again);
  const absences = new Absences(known);
  const documents = await documentsOf(run, known);
  const fileOfId = new Map<string, string>();
  const fail = (file: string, error: unknown) => {
    const { code, message } = error instanceof AkinError ? error : { code: 'unreadable', message: reasonOf(error) };
    progress.fail({ file, code, reason: message });
  };
  const batch = new Batch(collection, (id, reason) => {
    counts.done--;
    progress.fail({ file: fileOfId.get(id) ?? id, code: 'bad-request', reason });
  });
  const deletedElsewhere: FileDocument[] = [];
  const underway = new Set<Promise<void>>();
  const sameness: Record<Sameness, number> = { same: 0, other: 0, unsure: 0 };
  const unsure: Edit[] = [];
  /** Documents whose place another picture took. */
  const displaced: KnownPicture[] = [];
  let videos = 0;
  let broken: unknown;

  const analyze = async (found: Candidate, modules: readonly string[]) => {
    const facts = { name: path.basename(found.file), sidecars: await sidecars.of(found.file) };
    const options = { model: run.model, modules, thumbnail: modules.length > 0, facts, signal: run.signal };
    return analyzeFile(run.analyzer, found, options);
  };
  const add = (document: FileDocument, { file }: Candidate) => {
    fileOfId.set(document.id, file);
    return batch.add(document);
  };
  const update = (document: FileDocument, known: KnownPicture, found: Candidate) => {
    if (known.isMissing) counts.returned++;
    return add(document, found);
  };
  const addEdited = async (edit: Edit, isOther: boolean) => {
    const { known, found, hash, analysis, labels } = edit;
    const newId = isOther ? documents.idOf({ kind: 'new', found }) : undefined;
    if (known.isDeleted) await add(newDocument(newId ?? known.id, found, hash, analysis, labels), found);
    else if (newId !== undefined) {
      displaced.push(known);
      await add(newDocument(newId, found, hash, analysis, labels), found);
    } else await update(changedDocument(known, { ...edit, file: found }), known, found);
  };
  const work = async (match: FileMatch, stored: StoredPicture | undefined): Promise<void> => {
    const found = ownPlace(match);
    const labels = run.labelsFromFolders ? folderLabels(found.path) : [];
    try {
      const known = match.kind === 'new' || match.kind === 'copied' ? undefined : match.known;
      const isSame = match.kind === 'same' || match.kind === 'moved';
      const isDeleted = match.kind !== 'new' && match.known.isDeleted;
      if (isDeleted && match.kind !== 'edited' && !run.restoreDeleted) {
        counts.skipped++;
        const id = documents.idOf(match);
        if (id !== undefined && 'hash' in match) deletedElsewhere.push({ id, ...fieldsOfFile(found, match.hash) });
        return;
      }
      if (known !== undefined && isSame && !known.isDeleted && run.picturesOf === undefined) {
        const hash = match.kind === 'moved' ? match.hash : undefined;
        if (stored !== undefined) {
          counts.done++;
          const { analysis } = await analyze(found, []);
          await update(changedDocument(known, { file: found, hash, analysis, stored, labels }), known, found);
        } else if (match.kind === 'moved') {
          if (known.place === found.place) counts.unchanged++;
          else counts.moved++;
          await update(changedDocument(known, { file: found, hash, labels }), known, found);
        } else if (labels.some((label) => !known.labels.includes(label))) {
          counts.done++;
          await update({ ...existing(known), labels: { 'add-distinct': labels } }, known, found);
        } else {
          counts.unchanged++;
          if (known.isMissing) await update(existing(known), known, found);
        }
        return;
      }
      const id = documents.idOf(match);
      if (id === undefined) {
        counts.found--;
        return;
      }
      if (documents.isCurrent(id, found)) {
        counts.unchanged++;
        return;
      }
      const { analysis, hash } = await analyze(found, run.modules ?? moduleNames);
      counts.done++;
      if (known === undefined || (isDeleted && match.kind !== 'edited') || run.picturesOf !== undefined) {
        await add(newDocument(id, found, hash, analysis, labels), found);
        return;
      }
      const edit: Edit = { known, found, hash, analysis, labels, stored };
      const compared = compare(edit);
      sameness[compared]++;
      if (compared === 'unsure') unsure.push(edit);
      else await addEdited(edit, compared === 'other');
    } catch (error) {
      if (run.signal.aborted) return;
      if (error instanceof AkinRequestError) broken ??= error;
      // Removed after it was found.
      else if (isGone(error)) counts.found--;
      else fail(found.file, error);
    }
  };
  const start = async (match: FileMatch, stored?: StoredPicture) => {
    const task = work(match, stored).finally(() => underway.delete(task));
    underway.add(task);
    // Twice the threads: the next picture is read from disk while others are analyzed.
    if (underway.size >= run.threads * 2) await Promise.race(underway);
  };
  /** Matches for which the document has to be read. */
  const changed = new Map<string, FileMatch>();
  const startChanged = async () => {
    const stored = await readStoredPictures(collection, [...changed.keys()]);
    for (const [id, match] of changed) if (!isEnded()) await start(match, stored.get(id));
    changed.clear();
  };
  const startWithStored = async (match: FileMatch) => {
    if (match.kind === 'new' || match.kind === 'copied' || !needsStored(match, run)) return start(match);
    changed.set(match.known.id, match);
    if (changed.size >= READ_DOCUMENTS) await startChanged();
  };

  const listener: WalkListener = {
    onSource: (folder) => absences.addRoot(folder),
    onAbsent: (file) => absences.addRoot(file),
    onVideo: () => void videos++,
    onProblem(file, reason) {
      counts.found++;
      progress.fail({ file, code: 'unreadable', reason });
    },
  };
  const isEnded = () => run.signal.aborted || broken !== undefined;
  let waiting = 0;
  let lost: readonly KnownPicture[] = [];
  for await (const candidate of readAhead(run.candidates(listener), counts)) {
    if (isEnded()) break;
    const match = matcher.see(candidate);
    if (match === undefined) waiting++;
    else await startWithStored(match);
  }
  if (!isEnded()) {
    const isWalked = await absences.walked();
    const resolved = await matcher
      .resolve({ hashOf: ({ file, bytes }) => hashOfFile(file, bytes), realOf: realFileOf }, isWalked, run.signal)
      .catch((error) => {
        if (!run.signal.aborted) throw error;
        return { matches: [], lost: [], doubles: [], unreadable: [] };
      });
    const { matches, doubles, unreadable } = resolved;
    lost = resolved.lost;
    // The others are further names of the same files.
    counts.found += matches.length + unreadable.length - waiting;
    for (const { found, error } of unreadable) {
      if (isGone(error)) counts.found--;
      else fail(found.file, error);
    }
    for (const match of matches) {
      if (isEnded()) break;
      await startWithStored(match);
    }
    await startChanged();
    if (run.picturesOf === undefined && !isEnded()) await mergeDoubles(collection, batch, doubles);
  }
  await Promise.all(underway);
  // If most edited files show other pictures, another card is there.
  const areOther = sameness.other > sameness.same;
  if (!broken && !areOther && !run.restoreDeleted) {
    // The id is that of a document again. What the file was before it was edited stays deleted: it may be in a backup.
    const former = unsure.flatMap(({ known, found }) => {
      const id = known.isDeleted ? documents.idOf({ kind: 'new', found }) : undefined;
      return id === undefined || known.hash === undefined ? [] : [{ id, ...fieldsOfFile(known, known.hash) }];
    });
    if (former.length > 0) await collection.addTombstones(former);
  }
  if (!broken) for (const edit of unsure) await addEdited(edit, areOther);
  absences.lost = [...lost, ...displaced];
  if (!broken) await batch.flush();
  if (broken) throw broken;
  const stopped = run.signal.aborted;
  if (deletedElsewhere.length > 0) await collection.addTombstones(deletedElsewhere);
  const absent =
    stopped || run.picturesOf !== undefined
      ? { missing: 0, removed: 0, gone: 0, refused: [] }
      : await absences.apply(collection, batch, run.prune);
  counts.gone = absent.gone;
  await collection.commit();
  return {
    indexed: counts.done,
    unchanged: counts.unchanged,
    moved: counts.moved,
    leftOut: counts.skipped,
    returned: counts.returned,
    absent: [...progress.absent],
    ...absent,
    videos,
    failures,
    stopped,
  };
}

/** Whether its content, or what describes it, changed. */
function needsStored({ kind, known, found }: Exclude<FileMatch, { kind: 'new' | 'copied' }>, run: FolderRun): boolean {
  if (known.isDeleted || run.picturesOf !== undefined) return false;
  return kind === 'edited' || known.sidecars !== found.sidecars;
}

function compare({ known, stored, analysis }: Edit): Sameness {
  // Nothing remains of its picture.
  if (known.isDeleted) return 'unsure';
  if (stored === undefined) return 'same';
  const { taken } = toFields(analysis.facts ?? {});
  const before = { taken: stored.fields.taken, outputs: stored.outputs };
  return compareEdited(before, { taken, outputs: JSON.parse(analysis.outputs) });
}

/** Which document a picture that is analyzed gets. */
async function documentsOf(run: FolderRun, known: readonly KnownPicture[]) {
  if (run.picturesOf === undefined) {
    const taken = new Set(known.map(({ id }) => id));
    // Documents that did not come from files. Only those of files have a field `source`, if there are any.
    const q = known.some(({ isDeleted }) => !isDeleted) ? '*:* -(+source:* +modified:*)' : '*:*';
    for await (const { id } of run.collection.all({ q, fl: 'id' })) taken.add(id);
    const ids = new NewIds(taken);
    return {
      idOf: (match: FileMatch): string | undefined =>
        match.kind === 'new' || match.kind === 'copied'
          ? ids.next(match.found.source, match.found.path)
          : match.known.id,
      isCurrent: () => false,
    };
  }
  const ids = new Set<string>();
  for await (const { id } of run.picturesOf.all({ fl: 'id' })) ids.add(id);
  const current = new Map((await readKnownFiles(run.collection)).map((one) => [one.id, one]));
  return {
    idOf(match: FileMatch): string | undefined {
      const id = match.kind === 'new' || match.kind === 'copied' ? match.found.path.normalize('NFC') : match.known.id;
      return ids.has(id) ? id : undefined;
    },
    isCurrent(id: string, found: Candidate): boolean {
      const own = current.get(id);
      return own !== undefined && hasState(own, found);
    },
  };
}

async function realFileOf({ place }: KnownPicture): Promise<{ real: string } | 'gone' | 'unknown'> {
  try {
    return { real: await realOf(place) };
  } catch (error) {
    return isGone(error) ? 'gone' : 'unknown';
  }
}

/**
 * Yields the candidates while it looks for further ones as fast as it can: the total is known long before the work is
 * done. Updates `found` and `listingComplete`.
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
