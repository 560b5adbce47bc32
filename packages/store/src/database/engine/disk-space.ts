import { statfs } from 'node:fs/promises';
import { AkinError } from '@akin/domain';

/**
 * A segment of the write-ahead log always stays free: the database creates the next one when it has filled one, and
 * ends if it cannot.
 */
const LOG_SEGMENT_BYTES = 16 * 1024 * 1024;
/** Share of the disk that stays free besides, or bytes if that is less: space to apply accepted changes. */
const RESERVE_SHARE = 0.05;
const RESERVE_BYTES = 512 * 1024 * 1024;
/** The part of the reserve that must be free for each use. */
const PARTS = { changes: 1, work: 0.5 };
const RETRY_AFTER_SECONDS = 30;

type SpaceUse = keyof typeof PARTS;

/**
 * The disk of the embedded database. With a full disk, a database cannot even remove anything, so it is written to only
 * while there is space left. It continues when there is more. Searches need none.
 */
export class DiskSpace {
  readonly #folder: string;
  readonly #warn: (text: string) => void;
  #hasWarned = false;

  constructor(folder: string, warn: (text: string) => void) {
    this.#folder = folder;
    this.#warn = warn;
  }

  /**
   * Call this before the database grows: `changes` of clients stop first, `work` on accepted ones (analyses, commits)
   * later. @throws AkinError unavailable if too little is free; the message says what to do
   */
  async requireSpace(use: SpaceUse): Promise<void> {
    const warning = await this.warning(use);
    if (warning !== undefined) throw new AkinError('unavailable', warning, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  /** The message for users and operators if there is too little space. Undefined if there is enough. */
  async warning(use: SpaceUse = 'changes'): Promise<string | undefined> {
    const space = await this.#readSpace();
    if (space === undefined) return undefined;
    const { free, reserve } = space;
    const low = free < required(reserve, 'changes');
    if (low !== this.#hasWarned) {
      this.#hasWarned = low;
      this.#warn(low ? warningOf(space) : 'There is space on the disk of the data folder again: changes are accepted.');
    }
    return free < required(reserve, use) ? warningOf(space) : undefined;
  }

  /** Whether there is so little space that the database may fail for that reason. */
  async isFull(): Promise<boolean> {
    const space = await this.#readSpace();
    return space !== undefined && space.free < LOG_SEGMENT_BYTES;
  }

  /** In bytes. Undefined on file systems that do not report it. */
  async #readSpace(): Promise<{ readonly free: number; readonly reserve: number } | undefined> {
    const stat = await statfs(this.#folder).catch(() => undefined);
    if (stat === undefined || stat.blocks === 0) return undefined;
    const reserve = Math.min(stat.blocks * stat.bsize * RESERVE_SHARE, RESERVE_BYTES);
    return { free: stat.bavail * stat.bsize, reserve };
  }
}

function required(reserve: number, use: SpaceUse): number {
  return LOG_SEGMENT_BYTES + reserve * PARTS[use];
}

function warningOf({ free, reserve }: { readonly free: number; readonly reserve: number }): string {
  return `The disk of the data folder has only ${megabytes(free)} free, and akin accepts changes only while ${megabytes(required(reserve, 'changes'))} are free: free some space, or enlarge the disk. Searches continue. Everything else continues when there is space.`;
}

function megabytes(bytes: number): string {
  return `${Math.round((bytes / 1024 ** 2) * 10) / 10} MB`;
}
