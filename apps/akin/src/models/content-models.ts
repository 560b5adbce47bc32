import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { AkinError, badRequest } from '@akin/domain';
import {
  activeModelSet,
  descriptorTexts,
  hashLargeFiles,
  type ModelSet,
  modelSetWith,
  OWN_MODEL,
  ownModelSet,
  parseOutputs,
} from '@akin/modules/vectors';
import type { FindModelSet } from '@akin/store/database';
import { UsageError } from '../options.ts';
import { knownModel } from './known-models.ts';
import { checkFiles, downloadedModels, folderOfName } from './models-folder.ts';

/** How long a folder without a given model is not searched again for another one. */
const MISSED_MILLISECONDS = 10_000;
const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;

interface InstalledModel {
  readonly modelSet: ModelSet;
  /** Undefined for akin's own network. */
  readonly folder: string | undefined;
}

export interface ContentModelsConfig {
  /** The folder of the default model of the process. Absent: akin's own network. */
  readonly contentModel?: string | undefined;
  /** The folder of models. Absent: none. */
  readonly models?: string | undefined;
}

/** Each model is read when it is first needed. */
export class ContentModels {
  readonly #config: ContentModelsConfig;
  readonly #found = new Map<string, InstalledModel>();
  /** The model that a folder contained, and the state of its files then: to read a model takes long. */
  readonly #read = new Map<string, { readonly files: string; readonly model: InstalledModel }>();
  /** Names from the last complete read of the folder, and the time until which they are valid. */
  #missed = { names: '', until: 0 };

  constructor(config: ContentModelsConfig = {}) {
    this.#config = config;
    this.#keep({ modelSet: activeModelSet(), folder: config.contentModel });
    this.#keep({ modelSet: ownModelSet(), folder: undefined });
  }

  get forStore() {
    return { ...activeModelSet(), parseOutputs, descriptorTexts, findModelSet: this.find };
  }

  /** The folder of a model, by the name in its outputs. Undefined for akin's own network. @throws AkinError conflict */
  async folderOf(model: string): Promise<string | undefined> {
    const found = await this.#ofModel(model);
    if (found !== undefined) return found.folder;
    throw new AkinError('conflict', `The content model ${model} is not here.`);
  }

  /** Whether the model is on this machine and is not the default one of this process. */
  async has(model: string): Promise<boolean> {
    return (await this.#ofModel(model)) !== undefined;
  }

  async all(): Promise<readonly ModelSet[]> {
    for (const name of this.#names()) await this.#ofName(name).catch(() => {});
    return [...this.#found.values()].map(({ modelSet }) => modelSet);
  }

  readonly find: FindModelSet = async (wanted) => {
    if ('name' in wanted) return (await this.#ofName(wanted.name)).modelSet;
    const model = wanted.models.get('content');
    return model === undefined ? undefined : (await this.#ofModel(model))?.modelSet;
  };

  /** @throws AkinError bad-request if there is no model with this name here */
  async #ofName(name: string): Promise<InstalledModel> {
    const { contentModel } = this.#config;
    if (name === OWN_MODEL) return this.#keep({ modelSet: ownModelSet(), folder: undefined });
    const isOwnFolder = contentModel !== undefined && path.basename(contentModel) === name;
    if (isOwnFolder) return this.#keep({ modelSet: activeModelSet(), folder: contentModel });
    const folder = this.#folderOfName(name);
    await hashLargeFiles(folder);
    try {
      checkFiles(folder, name);
    } catch (error) {
      throw error instanceof UsageError ? badRequest(error.message) : error;
    }
    const files = stateOfFiles(folder);
    const read = this.#read.get(folder);
    if (read?.files === files) return read.model;
    const model = this.#keep({ modelSet: modelSetWith(folder), folder });
    this.#read.set(folder, { files, model });
    return model;
  }

  #folderOfName(name: string): string {
    const { models } = this.#config;
    const folder = folderOfName(name, NAME.test(name) ? models : undefined);
    if (folder !== undefined) return folder;
    const what = knownModel(name)
      ? `The model ${name} is not here. Download it where akin runs: akin models pull ${name}`
      : `There is no model with the name ${JSON.stringify(name.slice(0, 100))}: akin models lists the known ones`;
    const here = this.#names();
    throw badRequest(`${what}. Available models: ${[OWN_MODEL, ...here].join(', ')}.`);
  }

  #names(): string[] {
    const { models } = this.#config;
    return models === undefined ? [] : downloadedModels(models);
  }

  async #ofModel(model: string): Promise<InstalledModel | undefined> {
    const known = this.#found.get(model);
    if (known !== undefined) return known;
    const names = this.#names();
    const folder = names.join('/');
    // Clients choose the names of models. One stored miss counts for all, so clients cannot make a list of misses grow.
    if (folder === this.#missed.names && performance.now() < this.#missed.until) return undefined;
    for (const name of names) {
      // A folder without a model does not matter to this collection.
      await this.#ofName(name).catch(() => {});
      const found = this.#found.get(model);
      if (found !== undefined) return found;
    }
    this.#missed = { names: folder, until: performance.now() + MISSED_MILLISECONDS };
    return undefined;
  }

  #keep(found: InstalledModel): InstalledModel {
    const model = found.modelSet.models.get('content') ?? '';
    const known = this.#found.get(model);
    if (known !== undefined) return known;
    this.#found.set(model, found);
    return found;
  }
}

/** Changes with each file of a folder. */
function stateOfFiles(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return files
    .map((file) => {
      const { size, mtimeMs } = statSync(path.join(folder, file), { throwIfNoEntry: false }) ?? {};
      return `${file} ${size} ${mtimeMs}`;
    })
    .join('\n');
}
