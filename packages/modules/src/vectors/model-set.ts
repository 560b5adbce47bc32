import { badRequest, type Calibration, JsonObject, type ModuleManifest, parseJson, stringifyJson } from '@akin/domain';
import { MODULES } from '../manifests.ts';
import { contentCodebook } from '../model-folder/use-content-model.ts';
import { type Codebook, codebookOf, shippedCodebook } from './codebook.ts';
import { type Outputs, readOutputs } from './parse-outputs.ts';

/** One model for each module with a descriptor, and everything needed to read, compare and store their outputs. */
export interface ModelSet {
  /** What people call the content model: the name of its folder, or `akin`. */
  readonly contentName: string;
  /** With the numbers of dimensions of these models. */
  readonly modules: readonly ModuleManifest[];
  /** The model of each module. */
  readonly models: ReadonlyMap<string, string>;
  /** The score calibration of each module. */
  readonly calibrations: ReadonlyMap<string, Calibration>;
  /** The calibration for a text and a picture; undefined if the content model has no text encoder. */
  readonly textCalibration: Calibration | undefined;
  /**
   * Which output of the content model is its vector: `projected`, `pooled` or `CLS`; undefined for akin's own model.
   */
  readonly contentVector: string | undefined;
  /** As the function `parseOutputs`, for these models. */
  readonly parseOutputs: (json: string, rankOnly?: boolean) => Outputs;
}

const CONTENT = 'content';
/** What people call akin's own models. */
export const OWN_MODEL = 'akin';

/** The default model set of this process. */
export function activeModelSet(): ModelSet {
  return modelSetOf(codebookOf);
}

export function ownModelSet(): ModelSet {
  return modelSetOf(shippedCodebook);
}

/**
 * akin's own models, with another content model from a folder. Reads the folder, and the weights once for their hash.
 *
 * @throws {AkinError} bad-request as `useContentModel` does.
 */
export function modelSetWith(folder: string): ModelSet {
  const content = contentCodebook(folder);
  return modelSetOf((module) => (module === CONTENT ? content : shippedCodebook(module)));
}

function modelSetOf(codebooks: (module: string) => Codebook): ModelSet {
  const described = MODULES.filter(({ descriptor }) => descriptor).map(({ name }) => name);
  return {
    contentName: codebooks(CONTENT).name ?? OWN_MODEL,
    modules: MODULES.map((module) => {
      const { descriptor, name } = module;
      if (descriptor === undefined) return module;
      return { ...module, descriptor: { ...descriptor, dimensions: codebooks(name).dimensions } };
    }),
    models: new Map(described.map((name) => [name, codebooks(name).model])),
    calibrations: new Map(described.map((name) => [name, codebooks(name).calibration])),
    textCalibration: codebooks(CONTENT).textCalibration,
    contentVector: codebooks(CONTENT).vector,
    parseOutputs: (json, rankOnly) => readOutputs(json, codebooks, rankOnly),
  };
}

/** A model set as one text, such as `color=color-2,content=akin-4:74d3b08d`: equal for equal models. */
export function modelSetText({ models }: Pick<ModelSet, 'models'>): string {
  return Array.from(models, ([name, model]) => `${name}=${model}`).join(',');
}

/**
 * Replaces the outputs of some modules by those of a later analysis of the same picture.
 *
 * @param outputs the outputs of the first analysis, as JSON text
 * @param fresh outputs of `modules` from the later analysis
 * @throws {AkinError} bad-request when one of them is not a JSON object
 */
export function replaceOutputs(outputs: string, fresh: string, modules: readonly string[]): string {
  const replaced = new Set(
    MODULES.filter(({ name }) => modules.includes(name)).flatMap((module) => module.outputs.map(({ name }) => name)),
  );
  const kept = entriesOf(outputs).filter(([name]) => !replaced.has(name));
  return stringifyJson(new Map([...kept, ...entriesOf(fresh).filter(([name]) => replaced.has(name))]));
}

function entriesOf(json: string) {
  const value = parseJson(json, { depth: 4 });
  if (value instanceof JsonObject) return [...value.entries];
  throw badRequest('The outputs of an analysis are a JSON object.');
}
