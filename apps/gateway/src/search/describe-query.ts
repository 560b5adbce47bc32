import { AkinError, badRequest, type Calibration, withErrorContext } from '@akin/domain';
import { MODULES } from '@akin/modules/manifests';
import { colorQuery, combine, distanceAt, noTextEncoder, parseHexColors } from '@akin/modules/vectors';
import type { Collection, ModelSet } from '@akin/store/database';
import type { RankByDocuments, Smartfilter } from '@akin/store/search';
import type { Context } from '../context.ts';
import { analyzePicture, analyzeText, TEXT_MODULE } from './analyze-picture.ts';
import { analyzeStoredPicture } from './analyze-stored-picture.ts';
import type { RankInput } from './rank-inputs.ts';

const RANKING = new Map(MODULES.filter(({ descriptor }) => descriptor).map((module) => [module.name, module]));

/** The module whose descriptors contain only colours, so that a search by colour needs no picture. */
const COLOR = 'color';

/**
 * The module that a search ranks by.
 *
 * @param mode the parameter `rank.mode`; `default` is content
 * @throws AkinError bad-request for a mode that no module has
 */
export function rankingModule(mode: string | undefined, inputs: readonly RankInput[]): string {
  if (mode === undefined && inputs.length > 0 && inputs.every(({ kind }) => kind === 'hex')) return COLOR;
  const name = mode === undefined || mode === 'default' ? 'content' : mode;
  if (RANKING.has(name)) return name;
  throw badRequest(
    `Parameter rank.mode must be one of ${[...RANKING.keys()].join(', ')}; it is ${JSON.stringify(name.slice(0, 40))}.`,
  );
}

/** The kind of similarity, and how exactly to search. */
interface RankOptions {
  readonly module: string;
  readonly collection: Collection;
  /** Of the collection. */
  readonly models: ModelSet;
  readonly threshold?: number | undefined;
  /** Calibration of the collection's model. Default: that of this process. */
  readonly calibration?: Calibration | undefined;
  readonly smartfilter?: Smartfilter | undefined;
}

/**
 * What a search ranks by: the weighted sum of the descriptors of its inputs. Pictures and words are described first;
 * documents when the search reads a commit.
 *
 * @throws AkinError not-found for an id that no document has; bad-request for a document without this descriptor;
 * errors of the analysis of a picture
 */
export async function rankOfInputs(
  inputs: readonly RankInput[],
  options: RankOptions,
  signal: AbortSignal,
  context: Context,
): Promise<{ readonly rank: RankByDocuments; readonly warnings: readonly string[] }> {
  const { module, threshold, calibration, smartfilter } = options;
  // Originals are read one after the other: each can take much memory.
  let original: Promise<unknown> = Promise.resolve();
  const described = await Promise.all(
    inputs.map((input) => {
      const run = () => describe(input, options, signal, context);
      if (input.kind !== 'id') return run();
      const result = original.then(run);
      original = result.catch(() => undefined);
      return result;
    }),
  );
  const maxDistance = threshold === undefined ? undefined : distanceAt(module, threshold, calibration);
  const [only] = inputs;
  const rank: RankByDocuments = async (stored) => {
    const vectors: Float32Array[] = [];
    for (const [i, { value, parameter }] of inputs.entries()) {
      vectors.push(described[i]?.vector ?? requireVector(await stored(value, module), value, module, parameter));
    }
    return {
      module,
      vector: combine(
        vectors,
        inputs.map(({ weight }) => weight),
      ),
      ...(maxDistance === undefined || maxDistance === Number.POSITIVE_INFINITY ? {} : { maxDistance }),
      ...(inputs.length === 1 && only?.kind === 'id' && only.region === undefined ? { firstId: only.value } : {}),
      smartfilter,
    };
  };
  return { rank, warnings: described.flatMap((input) => input?.warnings ?? []) };
}

/** An input that is not a document. */
interface InputVector {
  readonly vector: Float32Array;
  readonly warnings?: readonly string[] | undefined;
}

/** Undefined for a whole document, whose descriptor is read from the commit of the result. */
async function describe(
  { kind, value, parameter, region }: RankInput,
  { module, models, collection }: RankOptions,
  signal: AbortSignal,
  context: Context,
): Promise<InputVector | undefined> {
  const options = { model: models.models.get(TEXT_MODULE), region };
  switch (kind) {
    case 'id': {
      if (region === undefined) return undefined;
      const analyzed = await analyzeStoredPicture(collection, value, parameter, [module], signal, context, options);
      return { vector: fromOutputs(analyzed.outputs, module, models, parameter), warnings: analyzed.warnings };
    }
    case 'hex': {
      const colors = parseHexColors(value);
      if (module === COLOR) return { vector: colorQuery(colors) };
      throw badRequest(`rank.by.hex cannot rank by ${module}: it needs rank.mode=${COLOR}.`);
    }
    case 'outputs':
      return { vector: fromOutputs(value, module, models, parameter) };
    case 'url':
    case 'data': {
      const input = kind === 'url' ? { url: value } : { data: value };
      const { outputs } = await analyzePicture(input, parameter, [module], signal, context, options);
      return { vector: fromOutputs(outputs, module, models, parameter) };
    }
    case 'text': {
      if (module !== TEXT_MODULE) {
        throw badRequest(`${parameter} cannot rank by ${module}: it needs rank.mode=${TEXT_MODULE}.`);
      }
      const model = models.models.get(TEXT_MODULE);
      if (models.textCalibration === undefined) throw noTextEncoder(model);
      const { outputs, warnings } = await analyzeText(value, parameter, model, signal, context);
      return { vector: fromOutputs(outputs, module, models, parameter), warnings };
    }
  }
}

function requireVector(
  vector: Float32Array | null | undefined,
  id: string,
  module: string,
  parameter: string,
): Float32Array {
  const shown = JSON.stringify(id.length > 200 ? `${id.slice(0, 200)}…` : id);
  if (vector === undefined) {
    throw new AkinError('not-found', `Parameter ${parameter}: no document ${shown} is visible. Was it committed?`);
  }
  if (vector === null) {
    throw badRequest(
      `Parameter ${parameter}: the document ${shown} has no ${module} descriptor, because the module did not analyze a picture of it.`,
    );
  }
  return vector;
}

function fromOutputs(json: string, module: string, models: ModelSet, parameter: string): Float32Array {
  const descriptor = withErrorContext(parameter, () => models.parseOutputs(json, true)).descriptors.get(module);
  if (descriptor) return descriptor.vector;
  throw badRequest(`Parameter ${parameter} contains no ${module} descriptor: analyze with modules.apply=${module}.`);
}
