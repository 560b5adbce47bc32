import { join } from 'node:path';
import { badRequest } from '@akin/domain';
import { locatePackage } from '../network/backend.ts';
import { unitOf } from '../vectors/unit.ts';
import type { TextConfig } from './config.ts';
import { requireName } from './content.ts';
import { type ModelFolder, readModelFolder } from './files.ts';
import { missingPackageError } from './missing-package-error.ts';
import { errorFactory, readJsonObject } from './read-json.ts';
import { type Input, openTower } from './tower.ts';

export interface TextVector {
  readonly model: string;
  /** A unit vector, which can be compared with those of pictures. */
  readonly vector: Float32Array;
  /** How many tokens of the text exceeded the maximum and were ignored. */
  readonly truncatedTokens: number;
}

interface Tokenizers {
  readonly Tokenizer: new (tokenizer: object, config: object) => Tokenizer;
}

interface Tokenizer {
  encode(text: string): { readonly ids: readonly number[] };
  token_to_id(token: string): number | undefined;
}

type Tokenize = (text: string) => { readonly ids: readonly number[]; readonly truncatedTokens: number };

/**
 * Opens the text encoder of a model in this thread.
 *
 * @param name The model name that outputs must contain, because other threads of this process use it; empty allows any.
 * @throws {AkinError} bad-request when the model has no text encoder or a file is damaged; conflict when a package is
 * missing.
 */
export async function openTextTower(folder: string, name = ''): Promise<(text: string) => Promise<TextVector>> {
  const model = readModelFolder(folder);
  requireName(model, name);
  const { words, config, id } = model;
  if (words === undefined || config.text === undefined) {
    throw badRequest(`The model in ${folder} cannot find pictures by words: it has no text encoder with a tokenizer.`);
  }
  const tokenize = await openTokenizer(model, config.text);
  const tower = await openTower(words, config.text.output);
  const unknown = tower.inputNames.find((input) => input !== 'input_ids' && input !== 'attention_mask');
  if (unknown !== undefined) throw badRequest(`${words} takes ${unknown}, which akin does not know.`);
  const run = async (text: string): Promise<TextVector> => {
    const { ids, truncatedTokens } = tokenize(text);
    const values = BigInt64Array.from(ids, BigInt);
    const inputs: Record<string, Input> = { input_ids: { values, shape: [1, ids.length] } };
    // Models that were trained with padding also attend to the padding.
    if (tower.inputNames.includes('attention_mask')) {
      inputs.attention_mask = { values: new BigInt64Array(ids.length).fill(1n), shape: [1, ids.length] };
    }
    return { model: id, vector: unitOf(await tower.run(inputs)), truncatedTokens };
  };
  const { vector } = await run('a');
  if (vector.length === config.dimensions) return run;
  throw badRequest(`${words} gives ${vector.length} numbers, and pictures have ${config.dimensions}.`);
}

async function openTokenizer({ folder, config }: ModelFolder, limits: TextConfig): Promise<Tokenize> {
  const { Tokenizer } = await loadTokenizers();
  const file = join(folder, 'tokenizer.json');
  const [vocabulary, settings] = [readJsonObject(file), readJsonObject(join(folder, 'tokenizer_config.json'))];
  let tokenizer: Tokenizer;
  try {
    tokenizer = new Tokenizer(vocabulary, settings);
    tokenizer.encode('a');
  } catch (cause) {
    throw errorFactory(file)(`cannot be used: ${(cause as Error).message}`.slice(0, 300));
  }
  const { tokens, padded } = limits;
  const padding = padded ? tokenizer.token_to_id(padTokenOf(settings)) : undefined;
  if (padded && padding === undefined) throw errorFactory(file)('has no token for padding, which the model needs');
  const prepare = config.type === 'siglip' ? plainText(settings) : (text: string) => text;
  return (text) => {
    const all = tokenizer.encode(prepare(text)).ids;
    const truncatedTokens = Math.max(0, all.length - tokens);
    // The last token marks the end of the text, so it is kept.
    const ids = truncatedTokens > 0 ? [...all.slice(0, tokens - 1), all.at(-1) as number] : [...all];
    while (padding !== undefined && ids.length < tokens) ids.push(padding);
    return { ids, truncatedTokens };
  };
}

function padTokenOf({ pad_token: token }: Record<string, unknown>): string {
  return String(typeof token === 'object' && token !== null ? (token as { content?: unknown }).content : token);
}

/** SigLIP was trained on lower-case letters, its first version also without punctuation. */
function plainText({ tokenizer_class: name }: Record<string, unknown>): (text: string) => string {
  const small = (text: string) => text.toLowerCase().replace(/\s+/g, ' ').trim();
  if (!String(name).startsWith('Siglip')) return small;
  return (text) => small(text.replace(/[!-/:-@[-`{-~]/g, ''));
}

async function loadTokenizers(): Promise<Tokenizers> {
  const name = '@huggingface/tokenizers';
  const file = locatePackage(name);
  if (file === undefined) throw missingPackageError(name);
  const loaded = (await import(file)) as Tokenizers & { default?: Tokenizers };
  return loaded.Tokenizer ? loaded : (loaded.default as Tokenizers);
}
