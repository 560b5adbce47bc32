import { availableParallelism } from 'node:os';
import { DEFAULT_IMAGE_LIMITS } from '@akin/imaging';
import { type AnalyzerConfig, BACKEND_CHOICES, defaultPictureMemory } from '@akin/modules/analyze';
import { useContentModel } from '@akin/modules/vectors';
import { contentModelFolder, MODELS_OPTION } from '../models/models-folder.ts';
import { type Option, type ParsedOptions, UsageError } from '../options.ts';

const CONTENT_MODEL_OPTION: Option = {
  name: 'content-model',
  valueName: 'model',
  description:
    'Another model for the module content: a name that akin models lists, or a folder; see docs/content-models.md',
};

export const CONTENT_MODEL_OPTIONS: readonly Option[] = [CONTENT_MODEL_OPTION, MODELS_OPTION];

export const MEGABYTE = 1024 ** 2;
const MIN_PICTURE_MEGABYTES = 64;
/** Of --upload-size and --upload-pixels: what one body and one decoder can hold. */
const MAX_UPLOAD = 400;

export const UPLOAD_OPTIONS: readonly Option[] = [
  {
    name: 'upload-size',
    valueName: 'MB',
    description: 'Maximum size of a picture that is uploaded or fetched. Files of indexed folders have no such limit',
    default: String(DEFAULT_IMAGE_LIMITS.bytes / 1e6),
  },
  {
    name: 'upload-pixels',
    valueName: 'megapixels',
    description: 'Maximum number of pixels of such a picture',
    default: String(DEFAULT_IMAGE_LIMITS.pixels / 1e6),
  },
];

export const ANALYSIS_OPTIONS: readonly Option[] = [
  {
    name: 'threads',
    valueName: 'n',
    description: 'Number of pictures analyzed at the same time',
    default: String(availableParallelism()),
  },
  {
    name: 'backend',
    valueName: 'name',
    description: `Backend that runs the networks: ${BACKEND_CHOICES.join(', ')}. auto takes onnx if it is installed, else wasm; see docs/backends.md`,
    default: 'auto',
  },
  {
    name: 'picture-memory',
    valueName: 'MB',
    description: 'Memory budget of all decoded pictures together, at least 64',
    default: String(Math.floor(defaultPictureMemory() / MEGABYTE)),
  },
  ...UPLOAD_OPTIONS,
  ...CONTENT_MODEL_OPTIONS,
];

/** @param chosen the content model if the options name none */
export function analysisConfig(options: ParsedOptions, chosen?: string): AnalyzerConfig {
  const name = options.text('backend');
  const backend = BACKEND_CHOICES.find((one) => one === name);
  if (!backend) throw new UsageError(`--backend (or AKIN_BACKEND) must be one of ${BACKEND_CHOICES.join(', ')}.`);
  const contentModel = contentModelOf(options, chosen);
  const megabytes = options.number('picture-memory');
  if (megabytes < MIN_PICTURE_MEGABYTES) {
    throw new UsageError(
      `--picture-memory (or AKIN_PICTURE_MEMORY) must be at least ${MIN_PICTURE_MEGABYTES} (MB), not ${megabytes}.`,
    );
  }
  return {
    threads: Math.max(1, options.number('threads')),
    backend,
    pictureMemory: megabytes * MEGABYTE,
    limits: { bytes: uploadBytes(options), pixels: Math.max(1, options.number('upload-pixels', MAX_UPLOAD)) * 1e6 },
    ...(contentModel ? { contentModel } : {}),
  };
}

export function uploadBytes(options: ParsedOptions): number {
  return Math.max(1, options.number('upload-size', MAX_UPLOAD)) * 1e6;
}

/** The folder of another content model, whose codebook this process then uses. Call it before anything is read. */
export function contentModelOf(options: ParsedOptions, chosen?: string): string | undefined {
  const folder = options.text('content-model') ?? chosen;
  if (folder === undefined) return undefined;
  const found = contentModelFolder(folder, options);
  useContentModel(found);
  return found;
}
