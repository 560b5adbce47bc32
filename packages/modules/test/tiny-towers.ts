import { block, type Field, integer, integers, join } from '../src/network/protobuf.ts';

/*
 * A model with two towers of a few kB in the layout of Hugging Face. It recognizes colours: the vector of a picture is
 * its mean colour, that of a text the colour that it names. As in real models, pictures and texts are in different
 * regions.
 */

const SIDE = 32;
const NUMBERS = 16;
const TOKENS = 8;
/** The distance between the regions of pictures and texts. */
const GAP = 4;

const COLORS: Readonly<Record<string, readonly number[]>> = {
  red: [1, -1, -1],
  green: [-1, 1, -1],
  blue: [-1, -1, 1],
  yellow: [1, 1, -1],
  white: [1, 1, 1],
  black: [-1, -1, -1],
};
const VOCABULARY = ['<pad>', '<unk>', '</s>', ...Object.keys(COLORS), 'a', 'picture', 'of', 'and'];

/** The files of the model by their path in its folder. */
export function tinyTowers(): ReadonlyMap<string, Uint8Array> {
  const json = (value: unknown) => new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
  return new Map([
    [
      'config.json',
      json({
        _name_or_path: 'akin/tiny-siglip',
        model_type: 'siglip',
        text_config: { hidden_size: NUMBERS, max_position_embeddings: TOKENS, model_type: 'siglip_text_model' },
        vision_config: { hidden_size: NUMBERS, image_size: SIDE, model_type: 'siglip_vision_model' },
      }),
    ],
    [
      'preprocessor_config.json',
      json({
        do_normalize: true,
        do_rescale: true,
        do_resize: true,
        image_mean: [0.5, 0.5, 0.5],
        image_processor_type: 'SiglipImageProcessor',
        image_std: [0.5, 0.5, 0.5],
        processor_class: 'SiglipProcessor',
        resample: 3,
        rescale_factor: 1 / 255,
        size: { height: SIDE, width: SIDE },
      }),
    ],
    ['onnx/vision_model.onnx', pictureTower()],
    ['onnx/text_model.onnx', textTower()],
    ['tokenizer.json', json(tokenizer())],
    [
      'tokenizer_config.json',
      json({ tokenizer_class: 'SiglipTokenizer', do_lower_case: true, pad_token: '<pad>', model_max_length: TOKENS }),
    ],
  ]);
}

function pictureTower(): Uint8Array {
  const weight = new Float32Array(3 * NUMBERS);
  for (let channel = 0; channel < 3; channel++) weight[channel * NUMBERS + channel] = 1;
  const bias = new Float32Array(NUMBERS);
  bias[3] = GAP;
  return onnxFile(
    [
      node('GlobalAveragePool', ['pixel_values'], 'pooled'),
      node('Flatten', ['pooled'], 'flat'),
      node('Gemm', ['flat', 'weight', 'bias'], 'pooler_output'),
    ],
    [floats('weight', [3, NUMBERS], weight), floats('bias', [NUMBERS], bias)],
    valueInfo(11, 'pixel_values', FLOAT, ['N', 3, SIDE, SIDE]),
  );
}

function textTower(): Uint8Array {
  const table = new Float32Array(VOCABULARY.length * NUMBERS);
  for (const [at, word] of VOCABULARY.entries()) {
    // The mean of all tokens follows; most of them are padding.
    table.set(
      (COLORS[word] ?? []).map((value) => value * TOKENS),
      at * NUMBERS,
    );
  }
  const bias = new Float32Array(NUMBERS);
  bias[4] = GAP;
  const middle = block(5, [block(1, 'axes'), integers(8, [1]), integer(20, 7)]);
  const flat = block(5, [block(1, 'keepdims'), integer(3, 0), integer(20, 2)]);
  return onnxFile(
    [
      node('Gather', ['table', 'input_ids'], 'rows'),
      node('ReduceMean', ['rows'], 'mean', [middle, flat]),
      node('Add', ['mean', 'bias'], 'pooler_output'),
    ],
    [floats('table', [VOCABULARY.length, NUMBERS], table), floats('bias', [NUMBERS], bias)],
    valueInfo(11, 'input_ids', INT64, ['N', TOKENS]),
  );
}

/** Values of `TensorProto.DataType`. */
const FLOAT = 1;
const INT64 = 7;

function onnxFile(nodes: Field[], weights: Field[], input: Field): Uint8Array {
  const output = valueInfo(12, 'pooler_output', FLOAT, ['N', NUMBERS]);
  const graph = [...nodes, block(2, 'tiny'), ...weights, input, output];
  return join([integer(1, 8), block(2, 'akin'), block(7, graph), block(8, [integer(2, 13)])]);
}

function node(type: string, inputs: readonly string[], output: string, attributes: readonly Field[] = []): Field {
  return block(1, [...inputs.map((input) => block(1, input)), block(2, output), block(4, type), ...attributes]);
}

function floats(name: string, shape: readonly number[], values: Float32Array): Field {
  const bytes = new Uint8Array(values.buffer);
  return block(5, [integers(1, shape), integer(2, FLOAT), block(8, name), block(9, bytes)]);
}

function valueInfo(number: 11 | 12, name: string, type: number, shape: readonly (number | string)[]): Field {
  const sides = shape.map((side) => block(1, [typeof side === 'string' ? block(2, side) : integer(1, side)]));
  return block(number, [block(1, name), block(2, [block(1, [integer(1, type), block(2, sides)])])]);
}

function tokenizer(): object {
  const special = ['<pad>', '<unk>', '</s>'].map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: special,
    normalizer: { type: 'Lowercase' },
    pre_tokenizer: { type: 'Whitespace' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [{ Sequence: { id: 'A', type_id: 0 } }, { SpecialToken: { id: '</s>', type_id: 0 } }],
      pair: [],
      special_tokens: { '</s>': { id: '</s>', ids: [2], tokens: ['</s>'] } },
    },
    decoder: null,
    model: {
      type: 'WordPiece',
      unk_token: '<unk>',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(VOCABULARY.map((word, id) => [word, id])),
    },
  };
}
