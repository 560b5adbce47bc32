import { join } from 'node:path';
import { errorFactory, type Refuse, readJsonObject } from './read-json.ts';

export interface ModelConfig {
  /** Name of the model in outputs: at most 40 letters, digits, dots, hyphens and underscores. */
  readonly name: string;
  readonly type: string;
  readonly family: Family;
  readonly dimensions: number;
  readonly text: TextConfig | undefined;
}

export interface TextConfig {
  readonly tokens: number;
  /** Whether texts are padded to the maximum, as in the model's training. */
  readonly padded: boolean;
  readonly output: string;
}

export interface Family {
  /** The output with the vector: a whole output, or the first row (CLS) of a sequence. */
  readonly output: string;
  readonly kind: 'projected' | 'pooled' | 'CLS';
  /**
   * Cosines of pictures: the median of two unrelated ones, and the value that one in a hundred such pairs reaches.
   * Typical of the family; `akin train` measures them for a model.
   */
  readonly pictures: Cosines;
  /** The same for a text and a picture, and the value of a text that matches. */
  readonly words?: Cosines & { readonly fits: number };
}

export interface Cosines {
  readonly usual: number;
  readonly rare: number;
}

const CLS = { output: 'last_hidden_state', kind: 'CLS' } as const;
const CLIP: Family = {
  output: 'image_embeds',
  kind: 'projected',
  pictures: { usual: 0.5, rare: 0.78 },
  words: { usual: 0.16, rare: 0.23, fits: 0.29 },
};
const SIGLIP: Family = {
  output: 'pooler_output',
  kind: 'pooled',
  pictures: { usual: 0.52, rare: 0.78 },
  words: { usual: 0.01, rare: 0.065, fits: 0.115 },
};
const DINO: Family = { ...CLS, pictures: { usual: 0.08, rare: 0.45 } };

/** For each `model_type`: its family, and where its config contains the number of dimensions, with the default. */
const TYPES: Readonly<Record<string, { family: Family; dimensions: [path: string, unsaid: number] }>> = {
  clip: { family: CLIP, dimensions: ['projection_dim', 512] },
  clip_vision_model: { family: CLIP, dimensions: ['projection_dim', 512] },
  siglip: { family: SIGLIP, dimensions: ['vision_config.hidden_size', 768] },
  siglip_vision_model: { family: SIGLIP, dimensions: ['hidden_size', 768] },
  dinov2: { family: DINO, dimensions: ['hidden_size', 768] },
  dinov2_with_registers: { family: DINO, dimensions: ['hidden_size', 768] },
  dinov3_vit: { family: DINO, dimensions: ['hidden_size', 384] },
  vit: { family: { ...CLS, pictures: { usual: 0.15, rare: 0.5 } }, dimensions: ['hidden_size', 768] },
};

const TEXTS: Readonly<Record<string, TextConfig>> = {
  clip: { tokens: 77, padded: false, output: 'text_embeds' },
  siglip: { tokens: 64, padded: true, output: 'pooler_output' },
};

/** Maximum of pgvector's index and of the codes. Models of pictures have at most some thousands. */
const MAX_DIMENSIONS = 4000;
/** Text encoders take at most some hundreds. Each text may be padded to this number. */
const MAX_TOKENS = 8_192;
const STEP = 8;

/** @throws {AkinError} bad-request that names the model type if it is not supported. */
export function readConfig(folder: string): ModelConfig {
  const file = join(folder, 'config.json');
  const sent = readJsonObject(file);
  const refuse = errorFactory(file);
  const type = sent.model_type;
  const known = typeof type === 'string' && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (typeof type !== 'string' || known === undefined) {
    throw refuse(
      `has the model_type ${JSON.stringify(type ?? null)}, which akin does not know. Known are ${Object.keys(TYPES).join(', ')}`,
    );
  }
  const dimensions = numberAt(sent, ...known.dimensions, Number.MAX_SAFE_INTEGER, refuse);
  if (dimensions % STEP !== 0 || dimensions > MAX_DIMENSIONS) {
    throw refuse(
      `says that the model gives ${dimensions} numbers; akin takes multiples of ${STEP} up to ${MAX_DIMENSIONS}`,
    );
  }
  const text = TEXTS[type];
  return {
    name: nameOf(sent, type),
    type,
    family: known.family,
    dimensions,
    text: text && {
      ...text,
      tokens: numberAt(sent, 'text_config.max_position_embeddings', text.tokens, MAX_TOKENS, refuse),
    },
  };
}

function numberAt(sent: Record<string, unknown>, path: string, unsaid: number, max: number, refuse: Refuse): number {
  let value: unknown = sent;
  for (const key of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[key];
  value ??= unsaid;
  const isCount = Number.isInteger(value) && (value as number) > 0;
  if (isCount && (value as number) <= max) return value as number;
  const limit = isCount ? `is more than ${max}` : 'is not a positive whole number';
  throw refuse(`has ${JSON.stringify(path)}, which ${limit}`);
}

/**
 * The last part of the name under which the model was published, so that copies in differently named folders are one
 * model.
 */
function nameOf({ _name_or_path: path }: Record<string, unknown>, type: string): string {
  const last = typeof path === 'string' ? path.split(/[\\/]/).at(-1) : undefined;
  return last?.replace(/[^\w.-]/g, '-').slice(0, 40) || type;
}
