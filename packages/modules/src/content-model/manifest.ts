import { join } from 'node:path';
import { errorFactory, readJsonObject } from '../model-folder/read-json.ts';

/** The file in the folder of a user's model that describes its input and output. */
export const MANIFEST_FILE = 'content-model.json';

/** The content of {@link MANIFEST_FILE}. */
export interface ContentModelManifest {
  /** Name of the model; outputs contain it. */
  readonly name: string;
  /** Descriptors of two versions are never compared. */
  readonly version: string;
  /** The model's file in the folder: a layers model or a graph model of TensorFlow.js. */
  readonly model: string;
  /** Size of the input picture in pixels. The whole picture is resized to it, without keeping the aspect ratio. */
  readonly width: number;
  readonly height: number;
  /** A byte becomes (byte / 255 - mean) / std, for each channel (red, green, blue). */
  readonly mean: readonly [number, number, number];
  readonly std: readonly [number, number, number];
  /** The layer or node whose values are the vector, averaged over positions; the model's output if undefined. */
  readonly output: string | undefined;
}

/** Allowed keys. Any other key is a typing error, which would otherwise be ignored silently. */
const KEYS = ['name', 'version', 'model', 'input', 'output'];
const INPUT_KEYS = ['width', 'height', 'mean', 'std'];
/** Maximum useful side; a larger one takes seconds for each picture. */
const MAX_SIDE = 1024;

/** @throws {AkinError} bad-request that names the folder and the error in its manifest. */
export function readManifest(folder: string): ContentModelManifest {
  const file = join(folder, MANIFEST_FILE);
  const refuse = errorFactory(file);
  const sent = readJsonObject(file);
  const text = (name: string, value: unknown) => {
    if (typeof value === 'string' && /^[\w.-]{1,40}$/.test(value)) return value;
    throw refuse(`needs "${name}", a text of 1 to 40 letters, digits, dots, hyphens and underscores`);
  };
  const side = (name: string, value: unknown) => {
    if (Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_SIDE) return value as number;
    throw refuse(`needs "input.${name}", a whole number of pixels from 1 to ${MAX_SIDE}`);
  };
  const channels = (name: string, value: unknown): [number, number, number] => {
    if (Array.isArray(value) && value.length === 3 && value.every(Number.isFinite)) return [...value] as never;
    throw refuse(`has "input.${name}", which is not three numbers`);
  };
  const { input, output } = sent as { input?: Record<string, unknown>; output?: unknown };
  if (typeof input !== 'object' || input === null) throw refuse('needs "input", an object with width and height');
  const unknown =
    Object.keys(sent).find((key) => !KEYS.includes(key)) ?? Object.keys(input).find((key) => !INPUT_KEYS.includes(key));
  if (unknown !== undefined) {
    throw refuse(
      `has ${JSON.stringify(unknown)}: it may have ${KEYS.join(', ')}, and in input ${INPUT_KEYS.join(', ')}`,
    );
  }
  if (output !== undefined && (typeof output !== 'string' || output === '')) {
    throw refuse('has "output", which is not a name');
  }
  const std = channels('std', input?.std ?? [1, 1, 1]);
  if (std.includes(0)) throw refuse('has 0 in "input.std"');
  return {
    name: text('name', sent.name),
    version: text('version', sent.version),
    model: text('model', sent.model ?? 'model.json'),
    width: side('width', input?.width),
    height: side('height', input?.height),
    mean: channels('mean', input?.mean ?? [0, 0, 0]),
    std,
    output,
  };
}
