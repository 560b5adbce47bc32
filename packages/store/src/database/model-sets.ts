import { AkinError, type Calibration, type FieldValue, type ModuleManifest } from '@akin/domain';

/** One model for each module, with functions to read and compare its outputs. */
export interface ModelSet {
  /** What people call the content model. */
  readonly contentName?: string | undefined;
  /** With the dimensions of the models. */
  readonly modules: readonly ModuleManifest[];
  /** By module. Empty if they are not to be checked. */
  readonly models: ReadonlyMap<string, string>;
  readonly calibrations: ReadonlyMap<string, Calibration>;
  /** The calibration of the distances between words and pictures, if the model supports words. */
  readonly textCalibration?: Calibration | undefined;
  /** Which output of the content model is its vector, for people. */
  readonly contentVector?: string | undefined;
  /** @param rankOnly whether only vectors are needed: then codes are not checked, and cells are not computed */
  readonly parseOutputs: (json: string, rankOnly?: boolean) => ParsedOutputs;
}

/** The outputs of an analysis as values: the result of `parseOutputs` of the modules. */
export interface ParsedOutputs {
  readonly fields: ReadonlyMap<string, FieldValue>;
  /** By module. */
  readonly descriptors: ReadonlyMap<string, ParsedDescriptor>;
}

export interface ParsedDescriptor {
  readonly vector: Float32Array;
  /** The vector as little-endian half floats, if the outputs contain it in that form. */
  readonly halves?: Uint8Array;
  /** Everything else from which {@link DescriptorTexts} writes the texts of the module. */
  readonly codes?: Uint8Array;
  /** The model that made it. Default: that of the collection. */
  readonly model?: string;
}

/**
 * Writes the outputs of a module that are texts and no columns, by name, from what is stored.
 *
 * @param model the model that made the descriptor; it need not be here. Empty if it is not known
 */
export type DescriptorTexts = (
  module: string,
  model: string,
  stored: { readonly halves: Uint8Array; readonly codes: Uint8Array },
) => ReadonlyMap<string, string>;

/**
 * Finds models that a process was not started with: by name, or the models of a collection's descriptors, by module.
 *
 * @returns undefined if these models are not here
 * @throws AkinError bad-request for an unknown name, or if its models are not here
 */
export type FindModelSet = (
  wanted: { readonly name: string } | { readonly models: ReadonlyMap<string, string> },
) => Promise<ModelSet | undefined>;

/** The models that this process can use. Each model set is searched for once. */
export class ModelSets {
  readonly #own: ModelSet;
  readonly #find: FindModelSet;
  readonly #known: ModelSet[];
  readonly #byName = new Map<string, Promise<ModelSet>>();
  readonly #discovering = new Map<string, Promise<void>>();

  constructor(own: ModelSet, find: FindModelSet = async () => undefined) {
    this.#own = own;
    this.#find = find;
    this.#known = [own];
  }

  /** The model set with these models, or the default one if this process does not know all of them. */
  of(models: ReadonlyMap<string, string>): ModelSet {
    return this.#known.find((one) => matchesModels(one, models)) ?? this.#own;
  }

  /** @throws AkinError bad-request if there is none here */
  ofName(name: string): Promise<ModelSet> {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const found = this.#find({ name }).then((one) => {
      if (one === undefined)
        throw new AkinError('bad-request', `There is no model with the name ${name.slice(0, 100)}.`);
      return this.#remember(one);
    });
    this.#byName.set(name, found);
    // A missing model may exist later.
    found.catch(() => this.#byName.delete(name));
    return found;
  }

  /** Searches for unknown models of a collection. A missing one may exist later. */
  async discover(models: ReadonlyMap<string, string>): Promise<void> {
    if (matchesModels(this.of(models), models)) return;
    const key = JSON.stringify([...models]);
    const discovering =
      this.#discovering.get(key) ??
      this.#find({ models })
        .then((one) => void (one === undefined || this.#remember(one)))
        .finally(() => this.#discovering.delete(key));
    this.#discovering.set(key, discovering);
    await discovering;
  }

  #remember(one: ModelSet): ModelSet {
    const same = this.#known.find((known) => matchesModels(known, one.models));
    if (same !== undefined) return same;
    this.#known.push(one);
    return one;
  }
}

function matchesModels(modelSet: ModelSet, models: ReadonlyMap<string, string>): boolean {
  return [...modelSet.models].every(([module, own]) => (models.get(module) ?? own) === own);
}
