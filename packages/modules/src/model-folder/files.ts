import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { badRequest } from '@akin/domain';
import { type ModelConfig, readConfig } from './config.ts';
import { sha256OfFile } from './hash-file.ts';
import { type Preprocessing, readPreprocessing } from './preprocessing.ts';
import { readJsonObject } from './read-json.ts';

/**
 * A model in a folder in the layout of Hugging Face: `config.json`, `preprocessor_config.json`, `onnx/model.onnx` or
 * `onnx/vision_model.onnx`, and for words `onnx/text_model.onnx`, `tokenizer.json` and `tokenizer_config.json`. ONNX
 * files may have the suffix `_fp16` or `_quantized`, and may be in the folder itself.
 */
export interface ModelFolder {
  readonly folder: string;
  readonly config: ModelConfig;
  readonly preprocessing: Preprocessing;
  readonly pictures: string;
  readonly words: string | undefined;
  /** The model name in outputs: name and a hash of everything that determines the vectors of pictures. */
  readonly id: string;
}

const SUFFIXES = ['', '_fp16', '_quantized'];

/** @throws {AkinError} bad-request that names the missing file, or the part that is not supported. */
export function readModelFolder(folder: string): ModelFolder {
  const config = readConfig(folder);
  const preprocessing = readPreprocessing(folder);
  // If there is a text encoder, `model.onnx` contains both towers and would need a text with each picture.
  const names = config.text === undefined ? ['vision_model', 'model'] : ['vision_model'];
  const pictures = names.map((name) => findOnnx(folder, name)).find((file) => file !== undefined);
  if (pictures === undefined) {
    throw badRequest(
      `${folder} has no ${names.map((name) => `onnx/${name}.onnx`).join(' or ')}, also not with ${SUFFIXES.slice(1).join(' or ')} before .onnx.`,
    );
  }
  const words = config.text && existsSync(join(folder, 'tokenizer.json')) ? findOnnx(folder, 'text_model') : undefined;
  const hash = createHash('sha256');
  // Not the JSON text itself: it may differ in spaces and in keys without effect.
  hash.update(JSON.stringify([config.type, config.family.output, preprocessing, hashesOf(pictures)]));
  return { folder, config, preprocessing, pictures, words, id: `${config.name}:${hash.digest('hex').slice(0, 8)}` };
}

function findOnnx(folder: string, name: string): string | undefined {
  return SUFFIXES.flatMap((suffix) => [
    join(folder, 'onnx', `${name}${suffix}.onnx`),
    join(folder, `${name}${suffix}.onnx`),
  ]).find((file) => existsSync(file));
}

function hashesOf(file: string): string[] {
  return [file, `${file}_data`].filter((part) => existsSync(part)).map(sha256OfFile);
}

/** The calibration that `akin train` measured on the user's pictures. */
export const CALIBRATION_FILE = 'akin-calibration.json';

export function readCalibration({ folder, id }: ModelFolder): [number, number][] | undefined {
  const file = join(folder, CALIBRATION_FILE);
  if (!existsSync(file)) return undefined;
  const refuse = (why: string) => badRequest(`${file} ${why}. Run akin train again, or delete ${basename(file)}.`);
  let sent: { model?: unknown; calibration?: unknown };
  try {
    sent = readJsonObject(file);
  } catch {
    throw refuse('is damaged');
  }
  if (sent?.model !== id) throw refuse(`was measured with ${String(sent?.model).slice(0, 60)}, not with ${id}`);
  const points = sent.calibration;
  const isPair = (pair: unknown) => Array.isArray(pair) && pair.length === 2 && pair.every(Number.isFinite);
  if (!Array.isArray(points) || points.length < 2 || !points.every(isPair)) throw refuse('is damaged');
  const pairs = points as [number, number][];
  const falls = pairs.every(([d, s], i) => i === 0 || (d > (pairs[i - 1]?.[0] ?? 0) && s < (pairs[i - 1]?.[1] ?? 0)));
  if (!falls || pairs[0]?.[0] !== 0 || pairs.at(-1)?.[1] !== 0) throw refuse('is damaged');
  return pairs;
}
