import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type GatewayLimits, limitsForPictures } from '@akin/gateway';
import { DEFAULT_IMAGE_LIMITS } from '@akin/imaging';
import { type AnalyzerConfig, BACKEND_CHOICES, defaultPictureMemory } from '@akin/modules/analyze';
import { useContentModel } from '@akin/modules/vectors';
import { defaultSearchMemory } from '@akin/store/search';
import { DATA_OPTION, databaseUrl, dataFolder } from '../data-option.ts';
import { chosenModel } from '../models/chosen-model.ts';
import { contentModelFolder, MODELS_OPTION, modelsFolder } from '../models/models-folder.ts';
import { type Option, type ParsedOptions, UsageError } from '../options.ts';
import type { BacklogLimits, ServeConfig } from '../serve.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

const CONTENT_MODEL_OPTION: Option = {
  name: 'content-model',
  valueName: 'model',
  description:
    'Another model for the module content: a name that akin models lists, or a folder; see docs/content-models.md',
};

export const CONTENT_MODEL_OPTIONS: readonly Option[] = [CONTENT_MODEL_OPTION, MODELS_OPTION];

const MEGABYTE = 1024 ** 2;
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

export const STORE_OPTIONS: readonly Option[] = [
  DATA_OPTION,
  {
    name: 'database-url',
    valueName: 'url',
    description: 'PostgreSQL 15 or newer with pgvector, instead of the embedded database',
    otherVariables: ['DATABASE_URL'],
  },
  ...ANALYSIS_OPTIONS,
  { name: 'log-level', valueName: 'level', description: LOG_LEVELS.join(', '), default: 'warn' },
];

export const CORS_OPTION: Option = {
  name: 'cors',
  valueName: 'origins',
  description: 'Origins whose pages may call akin, separated by commas; * allows any',
};

export const LEGACY_OPTION: Option = {
  name: 'legacy-segment',
  valueName: 'name',
  description: 'Path segment of the interface for Solr clients',
  default: 'solr',
};

/** Limits of the waiting work of each collection. Above them, changes get 429. */
export const WAITING_OPTIONS: readonly Option[] = [
  {
    name: 'max-waiting-analyses',
    valueName: 'n',
    description:
      'Maximum number of pictures of a collection that wait for analysis. Above it, changes with pictures get 429',
    default: '500000',
  },
  {
    name: 'max-waiting-changes',
    valueName: 'n',
    description: 'Maximum number of waiting changes of a collection. Above it, changes get 429',
    default: '2000000',
  },
];

export function waitingLimits(options: ParsedOptions): BacklogLimits {
  return {
    waitingAnalyses: options.number('max-waiting-analyses'),
    unappliedChanges: options.number('max-waiting-changes'),
  };
}

export const THROTTLE_OPTION: Option = {
  name: 'no-throttle',
  description: 'Let bulk work on PostgreSQL go on at full speed while there are searches',
};

const MIN_SEARCH_MEGABYTES = 16;

export const SEARCH_MEMORY_OPTION: Option = {
  name: 'search-memory',
  valueName: 'MB',
  description: 'Memory for the vectors of searched collections. If it is too small, the database compares every match',
  default: String(Math.floor(defaultSearchMemory() / MEGABYTE)),
};

/** @returns bytes @throws {UsageError} if it is too small */
export function searchMemory(options: ParsedOptions): number {
  const megabytes = options.number('search-memory');
  if (megabytes >= MIN_SEARCH_MEGABYTES) return megabytes * MEGABYTE;
  throw new UsageError(
    `--search-memory (or AKIN_SEARCH_MEMORY) must be at least ${MIN_SEARCH_MEGABYTES} (MB), not ${megabytes}.`,
  );
}

export const WEB_FOLDER = fileURLToPath(new URL('dist/', import.meta.resolve('@akin/web/package.json')));

export function embeddedConfig(options: ParsedOptions): ServeConfig {
  const url = databaseUrl(options);
  return {
    dataFolder: dataFolder(options),
    ...(url ? { databaseUrl: url } : {}),
    host: '127.0.0.1',
    port: 0,
    corsOrigins: [],
    allowOpenNetwork: false,
    legacySegment: 'solr',
    analysis: analysisConfig(options, chosenModel(dataFolder(options))),
    models: modelsFolder(options),
    logLevel: logLevelOf(options),
    webFolder: WEB_FOLDER,
  };
}

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

export function uploadLimits(options: ParsedOptions): Partial<GatewayLimits> {
  return limitsForPictures(uploadBytes(options));
}

function uploadBytes(options: ParsedOptions): number {
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

function logLevelOf(options: ParsedOptions): string {
  const level = options.text('log-level') ?? 'warn';
  if (!LOG_LEVELS.includes(level)) throw new UsageError(`--log-level must be one of ${LOG_LEVELS.join(', ')}.`);
  return level;
}
