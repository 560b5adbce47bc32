/**
 * The entry point for code that compares, stores and checks outputs without analyzing pictures. It loads neither
 * TensorFlow nor an image library; the codebook of a module is read from its file at the first use.
 */
import type { Calibration } from '@akin/domain';
import { activeModelSet, modelSetText } from './vectors/model-set.ts';

export { colorQuery, parseHexColors } from './color/query.ts';
export { GROUP_MODULE, GROUP_SCORE, groupRule } from './duplicate/grouping.ts';
export { hashLargeFile, hashLargeFiles, sha256OfFile } from './model-folder/hash-file.ts';
export { noTextEncoder, useContentModel } from './model-folder/use-content-model.ts';
export { NEAR_PART_SCORE, PART_RULE, partScore, SURE_PART_SCORE } from './parts/score.ts';
export { distanceAt, scoreOf } from './vectors/calibration.ts';
export { combine } from './vectors/combine.ts';
export { decodeDescriptor, encodeDescriptor } from './vectors/descriptor.ts';
export {
  activeModelSet,
  type ModelSet,
  modelSetText,
  modelSetWith,
  OWN_MODEL,
  ownModelSet,
  replaceOutputs,
} from './vectors/model-set.ts';
export { type Outputs, parseOutputs } from './vectors/parse-outputs.ts';
export { descriptorTexts } from './vectors/stored-descriptor.ts';
export { distance } from './vectors/unit.ts';

/**
 * The model of each module with a descriptor, separated by commas, for example `content=akin-4:74d3b08d`. Outputs of
 * other models cannot be compared.
 */
export function modelNames(): string {
  return modelSetText(activeModelSet());
}

export function models(): ReadonlyMap<string, string> {
  return activeModelSet().models;
}

export function calibrations(): ReadonlyMap<string, Calibration> {
  return activeModelSet().calibrations;
}
