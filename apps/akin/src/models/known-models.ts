export interface KnownModel {
  readonly name: string;
  readonly repository: string;
  readonly revision: string;
  readonly licence: string;
  readonly numbers: number;
  /** Approximate size of all files, shown before the download. */
  readonly megabytes: number;
  readonly words: boolean;
  readonly about: string;
  readonly files: readonly ModelFile[];
}

interface ModelFile {
  readonly path: string;
  /** If it is known. Otherwise the hash is recorded at the first download. */
  readonly sha256?: string;
}

const SETTINGS = ['config.json', 'preprocessor_config.json'];
const TOKENIZER = ['tokenizer.json', 'tokenizer_config.json'];

const files = (...paths: string[]): ModelFile[] => paths.map((path) => ({ path }));

const DINOV2 = {
  repository: 'Xenova/dinov2-small',
  revision: 'bd222e886723524568931e43031f6d9327896fac',
  licence: 'Apache-2.0',
  numbers: 384,
  words: false,
};

const SIGLIP = {
  repository: 'Xenova/siglip-base-patch16-224',
  revision: '65a4a3071a821054207f0a80eaa35fb2ed6d46f0',
  licence: 'Apache-2.0',
  numbers: 768,
  words: true,
};

/** Models whose licence and layout are known. Others are given as a folder. */
export const KNOWN_MODELS: readonly KnownModel[] = [
  {
    ...DINOV2,
    name: 'dinov2-small',
    megabytes: 88,
    about: 'similar pictures',
    files: files(...SETTINGS, 'onnx/model.onnx'),
  },
  {
    ...DINOV2,
    name: 'dinov2-small-q8',
    megabytes: 25,
    about: 'similar pictures, in 8 bits',
    files: files(...SETTINGS, 'onnx/model_quantized.onnx'),
  },
  {
    ...SIGLIP,
    name: 'siglip-base-patch16-224',
    megabytes: 815,
    about: 'similar pictures, and words',
    files: files(...SETTINGS, ...TOKENIZER, 'onnx/vision_model.onnx', 'onnx/text_model.onnx'),
  },
  {
    ...SIGLIP,
    name: 'siglip-base-patch16-224-q8',
    megabytes: 213,
    about: 'similar pictures, and words, in 8 bits',
    files: files(...SETTINGS, ...TOKENIZER, 'onnx/vision_model_quantized.onnx', 'onnx/text_model_quantized.onnx'),
  },
];

export function knownModel(name: string): KnownModel | undefined {
  return KNOWN_MODELS.find((model) => model.name === name);
}
