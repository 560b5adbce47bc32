import type { Disk, FileState, FoundFile } from '../src/folder/file-match.ts';

const SECOND = 1_000;

interface Inode extends FileState {
  readonly inode: number;
  readonly content: string;
}

/** A disk in memory, where each change takes a second. */
export class Files {
  now = 1_000_000;
  readonly at = new Map<string, Inode>();
  #inodes = 0;

  write(place: string, content: string, bytes = 100): void {
    this.#tick();
    const inode = this.at.get(place)?.inode ?? ++this.#inodes;
    this.at.set(place, { inode, content, bytes, modified: this.now / SECOND, changed: this.now });
  }

  /** Under all its names. */
  edit(place: string, content: string): void {
    const { inode } = this.#file(place);
    for (const [name, file] of this.at) if (file.inode === inode) this.write(name, content);
  }

  move(from: string, to: string): void {
    const file = this.#file(from);
    this.at.delete(from);
    this.at.set(to, { ...file, changed: this.#tick() });
  }

  /** @param keepsTime as `cp -p` */
  copy(from: string, to: string, keepsTime = false): void {
    const file = this.#file(from);
    const changed = this.#tick();
    const modified = keepsTime ? file.modified : changed / SECOND;
    this.at.set(to, { ...file, inode: ++this.#inodes, modified, changed });
  }

  link(from: string, to: string): void {
    this.at.set(to, this.#file(from));
  }

  touch(place: string): void {
    const changed = this.#tick();
    this.at.set(place, { ...this.#file(place), modified: changed / SECOND, changed });
  }

  remove(place: string): void {
    this.at.delete(place);
  }

  found(root = '/'): FoundFile[] {
    const places = [...this.at.keys()].filter((place) => place.startsWith(root)).sort();
    return places.map((place) => {
      const { inode, bytes, modified, changed } = this.#file(place);
      const names = [...this.at.values()].filter((other) => other.inode === inode).length;
      return { place, inode, bytes, modified, changed, real: String(inode), isLinked: names > 1 };
    });
  }

  readonly disk: Disk<FoundFile> = {
    hashOf: async ({ place }) => this.hash(place),
    realOf: async ({ place }) => (this.at.has(place) ? { real: String(this.#file(place).inode) } : 'gone'),
  };

  hash(place: string): number {
    return [...this.#file(place).content].reduce((sum, letter) => (sum * 131 + letter.charCodeAt(0)) % 2 ** 40, 7);
  }

  #tick(): number {
    this.now += SECOND;
    return this.now;
  }

  #file(place: string): Inode {
    const file = this.at.get(place);
    if (file === undefined) throw new Error(`no file at ${place}`);
    return file;
  }
}
