import { AkinError, type Calibration, type FieldValue, type ModuleManifest } from '@akin/domain';

/** One model for each module, and what reads and compares outputs of them. */
export interface Generation {
  /** With as many numbers as the models give. */
  readonly modules: readonly ModuleManifest[];
  /** By module; none where they are not to be checked. */
  readonly models: ReadonlyMap<string, string>;
  readonly calibrations: ReadonlyMap<string, Calibration>;
  /** What makes scores of the distances of words and pictures, where words can be compared with pictures. */
  readonly wordsCalibration?: Calibration | undefined;
  /** What of the output of the content model is its vector, for people. */
  readonly contentVector?: string | undefined;
  readonly parseOutputs: (json: string, mark?: string) => ParsedOutputs;
}

/** The outputs of an analysis as values: what `parseOutputs` of the modules gives. */
export interface ParsedOutputs {
  readonly fields: ReadonlyMap<string, FieldValue>;
  /** By module. */
  readonly descriptors: ReadonlyMap<string, ParsedDescriptor>;
  /** Kept with the text and given to `parseOutputs` again, spares it checks. */
  readonly mark?: string;
}

/** A descriptor of outputs. */
interface ParsedDescriptor {
  readonly vector: Float32Array;
  readonly cell: number;
  /** The vector as little-endian halves, where outputs have it so. */
  readonly halves?: Uint8Array;
}

/**
 * Finds models that a process was not started with: those of a name, or those that made the descriptors of a collection,
 * by module.
 *
 * @returns undefined when nothing here has these models
 * @throws AkinError bad-request for an unknown name, or whose models are not here
 */
export type FindGeneration = (
  wanted: { readonly name: string } | { readonly models: ReadonlyMap<string, string> },
) => Promise<Generation | undefined>;

/** The models that this process can use, each generation found once. */
export class Generations {
  readonly #own: Generation;
  readonly #find: FindGeneration;
  readonly #known: Generation[];
  readonly #byName = new Map<string, Promise<Generation>>();
  readonly #looking = new Map<string, Promise<void>>();

  constructor(own: Generation, find: FindGeneration = async () => undefined) {
    this.#own = own;
    this.#find = find;
    this.#known = [own];
  }

  /** The generation of these models; that of the process where they are not all known, or not known here. */
  of(models: ReadonlyMap<string, string>): Generation {
    return this.#known.find((one) => fits(one, models)) ?? this.#own;
  }

  /** @throws AkinError bad-request when there is none of that name here */
  ofName(name: string): Promise<Generation> {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const found = this.#find({ name }).then((one) => {
      if (one === undefined) throw new AkinError('bad-request', `There is no model of the name ${name.slice(0, 100)}.`);
      return this.#keep(one);
    });
    this.#byName.set(name, found);
    // It may be here later.
    found.catch(() => this.#byName.delete(name));
    return found;
  }

  /** Looks for models that are not known yet: those of a collection. What is not here may be later. */
  async look(models: ReadonlyMap<string, string>): Promise<void> {
    if (fits(this.of(models), models)) return;
    const key = JSON.stringify([...models]);
    const looking =
      this.#looking.get(key) ??
      this.#find({ models })
        .then((one) => void (one === undefined || this.#keep(one)))
        .finally(() => this.#looking.delete(key));
    this.#looking.set(key, looking);
    await looking;
  }

  #keep(one: Generation): Generation {
    const same = this.#known.find((known) => fits(known, one.models));
    if (same !== undefined) return same;
    this.#known.push(one);
    return one;
  }
}

function fits(generation: Generation, models: ReadonlyMap<string, string>): boolean {
  return [...generation.models].every(([module, own]) => (models.get(module) ?? own) === own);
}
