import { statfs } from 'node:fs/promises';
import { AkinError } from '@akin/domain';

/** Share of the disk that stays free, or bytes if that is less: room to apply what was accepted. */
const RESERVE_SHARE = 0.05;
const RESERVE_BYTES = 512 * 1024 * 1024;
/** The part of the reserve that has to be free for each use. */
const PARTS = { changes: 1, work: 0.5 };
/** A segment of the write-ahead log: with less, the database may be unable to write anything. */
const FULL_BYTES = 16 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 30;

type Use = keyof typeof PARTS;

/**
 * The disk of the embedded database. A database whose disk is full cannot even remove anything, so it is written to only
 * while there is room left; it continues by itself when there is more. Searches need none.
 */
export class DiskSpace {
  readonly #folder: string;
  readonly #tell: (text: string) => void;
  #told = false;

  constructor(folder: string, tell: (text: string) => void) {
    this.#folder = folder;
    this.#tell = tell;
  }

  /**
   * To be called before what makes the database grow: `changes` of clients stop first, `work` on what was accepted
   * (analyses, commits) later.
   * @throws AkinError unavailable when too little is free: the message says what to do
   */
  async requireRoom(use: Use): Promise<void> {
    const warning = await this.warning(use);
    if (warning !== undefined) throw new AkinError('unavailable', warning, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  /** What to tell users and operators when there is too little room; undefined while there is enough. */
  async warning(use: Use = 'changes'): Promise<string | undefined> {
    const space = await this.#look();
    if (space === undefined) return undefined;
    const { free, reserve } = space;
    const low = free < reserve;
    if (low !== this.#told) {
      this.#told = low;
      this.#tell(low ? warningOf(space) : 'There is room on the disk of the data folder again: changes are taken.');
    }
    return free < reserve * PARTS[use] ? warningOf(space) : undefined;
  }

  /** Whether there is so little room that the database may fail for that reason. */
  async isFull(): Promise<boolean> {
    const space = await this.#look();
    return space !== undefined && space.free < Math.min(FULL_BYTES, space.reserve);
  }

  /** In bytes; undefined on file systems that do not tell. */
  async #look(): Promise<{ readonly free: number; readonly reserve: number } | undefined> {
    const stat = await statfs(this.#folder).catch(() => undefined);
    if (stat === undefined || stat.blocks === 0) return undefined;
    const reserve = Math.min(stat.blocks * stat.bsize * RESERVE_SHARE, RESERVE_BYTES);
    return { free: stat.bavail * stat.bsize, reserve };
  }
}

function warningOf({ free, reserve }: { readonly free: number; readonly reserve: number }): string {
  return `The disk of the data folder is full but for ${megabytes(free)}, and changes are taken while ${megabytes(reserve)} are free: make room on it, or enlarge it. Searches go on, and so does all else by itself when there is room.`;
}

function megabytes(bytes: number): string {
  return `${Math.round((bytes / 1024 ** 2) * 10) / 10} MB`;
}
