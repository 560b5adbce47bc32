import path from 'node:path';
import { AkinError, quote } from '@akin/domain';
import type { ModelSummary, Models } from '@akin/gateway';
import { type ModelSet, OWN_MODEL } from '@akin/modules/vectors';
import { type Log, StoppedError } from '@akin/runtime';
import type { ContentModels } from './content-models.ts';
import { KNOWN_MODELS, type KnownModel, knownModel } from './known-models.ts';
import { pull } from './pull.ts';

export interface ModelLibraryConfig {
  readonly models: ContentModels;
  readonly log: Pick<Log, 'error'>;
  readonly folder: string | undefined;
  /** The server to download from; undefined: nothing is downloaded. */
  readonly mirror: string | undefined;
  readonly refusal?: string;
}

interface Download {
  state: 'running' | 'failed';
  /** Of the files that were not there before, by path. */
  readonly bytes: Map<string, number>;
  msg?: string;
  readonly stop: AbortController;
  done: Promise<void>;
}

export class ModelLibrary implements Models, AsyncDisposable {
  readonly refusal: string | undefined;
  readonly #config: ModelLibraryConfig;
  readonly #downloads = new Map<string, Download>();

  constructor(config: ModelLibraryConfig) {
    this.#config = config;
    const { folder, mirror, refusal = 'This akin downloads no models.' } = config;
    this.refusal = folder === undefined || mirror === undefined ? refusal : undefined;
  }

  async list(): Promise<readonly ModelSummary[]> {
    const sets = await this.#config.models.all();
    const byName = new Map(sets.map((set) => [set.contentName, set]));
    const isDefault = (name: string) => name === sets[0]?.contentName;
    const known = KNOWN_MODELS.map(({ name, licence, megabytes, numbers, words, about }) => ({
      name,
      licence,
      megabytes,
      numbers,
      words,
      about,
      here: byName.has(name),
      isDefault: isDefault(name),
      ...this.#downloadOf(name),
    }));
    const others = sets.filter(({ contentName }) => !knownModel(contentName));
    const own = others.map((set) => ({ ...summaryOf(set), isDefault: isDefault(set.contentName) }));
    return [...own, ...known];
  }

  pull(name: string): void {
    const model = modelNamed(name);
    const { folder, mirror } = this.#config;
    if (folder === undefined || mirror === undefined) {
      throw new AkinError('conflict', `${this.refusal} Download it where akin runs: akin models pull ${name}`);
    }
    const before = this.#downloads.get(name);
    if (before?.state === 'running' && !before.stop.signal.aborted) return;
    const stop = new AbortController();
    const download: Download = { state: 'running', bytes: new Map(), stop, done: Promise.resolve() };
    this.#downloads.set(name, download);
    // One that is being stopped still holds the folder.
    const free = before?.done ?? Promise.resolve();
    download.done = free.then(() => this.#run(model, download, path.join(folder, name), mirror));
  }

  async stop(name: string): Promise<void> {
    modelNamed(name);
    const download = this.#downloads.get(name);
    if (download === undefined) throw new AkinError('not-found', `${name} is not being downloaded.`);
    download.stop.abort(new StoppedError('SIGTERM'));
    await download.done;
    this.#forget(name, download);
  }

  async #run(model: KnownModel, download: Download, folder: string, mirror: string): Promise<void> {
    const progress = (file: string, bytes: number) => void download.bytes.set(file, bytes);
    try {
      await pull({ model, folder, mirror, progress }, download.stop.signal);
      await this.#config.models.find({ name: model.name });
      this.#forget(model.name, download);
    } catch (error) {
      download.state = 'failed';
      if (!(error instanceof AkinError))
        this.#config.log.error({ err: error, model: model.name }, 'model not downloaded');
      const why = error instanceof AkinError ? error.message : 'An internal error: the log of akin says more.';
      // Clients need not know where the models are.
      download.msg = why.replaceAll(`${folder}${path.sep}`, '').replaceAll(folder, model.name);
    }
  }

  #forget(name: string, download: Download): void {
    if (this.#downloads.get(name) === download) this.#downloads.delete(name);
  }

  #downloadOf(name: string): Pick<ModelSummary, 'download'> {
    const download = this.#downloads.get(name);
    if (download === undefined) return {};
    const { state, msg } = download;
    const bytes = [...download.bytes.values()].reduce((sum, one) => sum + one, 0);
    return { download: { state, bytes, ...(msg === undefined ? {} : { msg }) } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { stop } of this.#downloads.values()) stop.abort(new StoppedError('SIGTERM'));
    await Promise.all([...this.#downloads.values()].map(({ done }) => done));
  }
}

function modelNamed(name: string): KnownModel {
  const model = knownModel(name);
  if (model !== undefined) return model;
  const names = KNOWN_MODELS.map((one) => one.name).join(', ');
  throw new AkinError('not-found', `akin knows no model ${quote(name.slice(0, 100))}. It knows ${names}.`);
}

/** akin's own network, or a folder that somebody put there. */
function summaryOf({ contentName: name, modules, textCalibration }: ModelSet): Omit<ModelSummary, 'isDefault'> {
  const isOwn = name === OWN_MODEL;
  const numbers = modules.find((module) => module.name === 'content')?.descriptor?.dimensions ?? 0;
  return {
    name,
    numbers,
    megabytes: null,
    here: true,
    words: textCalibration !== undefined,
    licence: isOwn ? 'Apache-2.0' : null,
    about: isOwn ? 'similar pictures; small and fast' : '',
  };
}
