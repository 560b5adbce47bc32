import { AkinError, type Calibration, JsonObject, type ModuleManifest, parseJson, stringifyJson } from '@akin/domain';
import { contentCodebook } from '../content-model/files.ts';
import { MODULES } from '../manifests.ts';
import { type Codebook, codebookOf, shippedCodebook } from './codebook.ts';
import { type Outputs, readOutputs } from './parse-outputs.ts';

/** One model for each module with a descriptor, and all that is needed to read, compare and store outputs of them. */
export interface Generation {
  /** With as many numbers as the models give. */
  readonly modules: readonly ModuleManifest[];
  /** By module. */
  readonly models: ReadonlyMap<string, string>;
  /** What makes scores of the distances, by module. */
  readonly calibrations: ReadonlyMap<string, Calibration>;
  /** The same for a text and a picture; undefined where the content model knows no words. */
  readonly wordsCalibration: Calibration | undefined;
  /** What of the output of the content model is its vector: `projected`, `pooled` or `CLS`; undefined for akin's own. */
  readonly contentVector: string | undefined;
  /** As `parseOutputs` reads those of the models in use. */
  readonly parseOutputs: (json: string, mark?: string) => Outputs;
}

const CONTENT = 'content';

/** The generation that this process uses where nothing else is said. */
export function generationInUse(): Generation {
  return generationOf(codebookOf);
}

/** akin's own analysis. */
export function ownGeneration(): Generation {
  return generationOf(shippedCodebook);
}

/**
 * akin's own analysis with another content model: that in a folder, which is read, its weights once for their hash.
 *
 * @throws {AkinError} bad-request as `useContentModel` does.
 */
export function generationWith(folder: string): Generation {
  const content = contentCodebook(folder);
  return generationOf((module) => (module === CONTENT ? content : shippedCodebook(module)));
}

function generationOf(codebooks: (module: string) => Codebook): Generation {
  const described = MODULES.filter(({ descriptor }) => descriptor).map(({ name }) => name);
  return {
    modules: MODULES.map((module) => {
      const { descriptor, name } = module;
      if (descriptor === undefined) return module;
      return { ...module, descriptor: { ...descriptor, dimensions: codebooks(name).dimensions } };
    }),
    models: new Map(described.map((name) => [name, codebooks(name).model])),
    calibrations: new Map(described.map((name) => [name, codebooks(name).calibration])),
    wordsCalibration: codebooks(CONTENT).wordsCalibration,
    contentVector: codebooks(CONTENT).vector,
    parseOutputs: (json, mark) => readOutputs(json, mark, codebooks),
  };
}

/** The models of a generation as one text, such as `color=color-2,content=akin-1:d52ec204`: equal for equal models. */
export function namesOf({ models }: Pick<Generation, 'models'>): string {
  return Array.from(models, ([name, model]) => `${name}=${model}`).join(',');
}

/**
 * Outputs in which those of some modules are of another analysis of the same picture.
 *
 * @param outputs of the first analysis, as JSON text
 * @param fresh of the later analysis: those of `modules`
 * @throws {AkinError} bad-request when one of them is no JSON object
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
  throw new AkinError('bad-request', 'The outputs of an analysis are a JSON object.');
}
