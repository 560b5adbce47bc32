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

  #list(folder: string): Promise<ReadonlySet<string>> {
    const known = this.#names.get(folder);
    if (known !== undefined) return known;
    const names = fs.readdir(folder).then(
      (all) => new Set(all.filter((name) => /\.(xmp|json)$/i.test(name))),
      () => new Set<string>(),
    );
    this.#names.set(folder, names);
    const [oldest] = this.#names.keys();
    if (this.#names.size > KEPT_FOLDERS && oldest !== undefined) this.#names.delete(oldest);
    return names;
  }
}

async function readSmall(file: string): Promise<Uint8Array | undefined> {
  try {
    const { size } = await fs.stat(file);
    return size > MAX_SIDECAR_BYTES ? undefined : await fs.readFile(file);
  } catch {
    return undefined;
  }
}
