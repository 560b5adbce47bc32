import { createHash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { MAX_SIDECAR_BYTES, type Sidecar, sidecarNames } from '@akin/imaging';

/** Files are walked folder by folder, and some are analyzed at the same time. */
const KEPT_FOLDERS = 8;

/** Finds the files beside pictures that describe them. Each folder is listed once while its pictures are indexed. */
export class Sidecars {
  readonly #names = new Map<string, Promise<ReadonlySet<string>>>();

  /** The sidecars of a picture file. One that cannot be read, or is too large, is left out. */
  async of(file: string): Promise<Sidecar[]> {
    const folder = path.dirname(file);
    const found = sidecarNames(path.basename(file), await this.#list(folder));
    const read = await Promise.all(found.map((name) => readSmall(path.join(folder, name))));
    return found.flatMap((name, i) => (read[i] === undefined ? [] : [{ name, bytes: read[i] }]));
  }

  /** Changes when one of them is added, changed or removed. Undefined if there is none. */
  async stateOf(file: string): Promise<number | undefined> {
    const folder = path.dirname(file);
    const found = sidecarNames(path.basename(file), await this.#list(folder));
    if (found.length === 0) return undefined;
    const stats = await Promise.all(found.map((name) => fs.stat(path.join(folder, name)).catch(() => undefined)));
    const hash = createHash('sha256');
    // Not the names, which change with that of the picture.
    for (const stat of stats) hash.update(`${stat?.size} ${stat && Math.floor(stat.mtimeMs / 1_000)}\n`);
    return Number(hash.digest().readBigUInt64BE() >> 11n);
  }

  /** The names in a folder, if they were read already. */
  addFolder(folder: string, names: readonly string[]): void {
    this.#keep(folder, Promise.resolve(sidecarsAmong(names)));
  }

  #list(folder: string): Promise<ReadonlySet<string>> {
    const known = this.#names.get(folder);
    if (known !== undefined) return known;
    return this.#keep(
      folder,
      fs.readdir(folder).then(sidecarsAmong, () => new Set<string>()),
    );
  }

  #keep(folder: string, names: Promise<ReadonlySet<string>>): Promise<ReadonlySet<string>> {
    this.#names.set(folder, names);
    const [oldest] = this.#names.keys();
    if (this.#names.size > KEPT_FOLDERS && oldest !== undefined) this.#names.delete(oldest);
    return names;
  }
}

function sidecarsAmong(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.filter((name) => /\.(xmp|json)$/i.test(name)));
}

async function readSmall(file: string): Promise<Uint8Array | undefined> {
  try {
    const { size } = await fs.stat(file);
    return size > MAX_SIDECAR_BYTES ? undefined : await fs.readFile(file);
  } catch {
    return undefined;
  }
}
