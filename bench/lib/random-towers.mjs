import { copyFile, mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/*
 * Writes transformers with the shapes of known models and with random weights, in the layout of Hugging Face. They are
 * as fast as trained ones, and just as large.
 */

/** Shapes of picture towers: layers, numbers per token, heads, and the sides of a patch and of a picture in pixels. */
const DINOV2_SMALL = { layers: 12, width: 384, heads: 6, patch: 14, side: 224 };
const SIGLIP_BASE = { layers: 12, width: 768, heads: 12, patch: 16, side: 224 };
/** Shape of the text tower: layers, numbers per token, heads, tokens of a text, and words of the vocabulary. */
const SIGLIP_TEXT = { layers: 12, width: 768, heads: 12, tokens: 64, vocabulary: 32_000 };

const FLOAT = 1;
const INT64 = 7;

/** Writes a model with the shape of DINOv2 small: it has 22 million weights, and no text tower. */
export async function writeRandomDino(folder) {
  const { width, side, patch } = DINOV2_SMALL;
  await mkdir(join(folder, 'onnx'), { recursive: true });
  await json(folder, 'config.json', { model_type: 'dinov2', hidden_size: width, image_size: side, patch_size: patch });
  await json(folder, 'preprocessor_config.json', {
    do_resize: true,
    do_center_crop: true,
    do_rescale: true,
    do_normalize: true,
    do_convert_rgb: true,
    size: { shortest_edge: 256 },
    crop_size: { height: side, width: side },
    resample: 3,
    image_mean: [0.485, 0.456, 0.406],
    image_std: [0.229, 0.224, 0.225],
    rescale_factor: 1 / 255,
    image_processor_type: 'BitImageProcessor',
  });
  await pictureTower(join(folder, 'onnx', 'model.onnx'), DINOV2_SMALL, 'last_hidden_state');
}

/**
 * Writes a model with the shape of SigLIP base with patches of 16 pixels. It has 93 million weights for pictures, and
 * 110 million for texts.
 *
 * @param tokenizer the folder of a tokenizer, whose files are copied. Any tokenizer will do, because texts are padded
 *   to 64 tokens
 */
export async function writeRandomSiglip(folder, tokenizer) {
  const { width, side, patch } = SIGLIP_BASE;
  await mkdir(join(folder, 'onnx'), { recursive: true });
  await json(folder, 'config.json', {
    model_type: 'siglip',
    vision_config: { hidden_size: width, image_size: side, patch_size: patch },
    text_config: { hidden_size: SIGLIP_TEXT.width, max_position_embeddings: SIGLIP_TEXT.tokens },
  });
  await json(folder, 'preprocessor_config.json', {
    do_resize: true,
    do_rescale: true,
    do_normalize: true,
    image_processor_type: 'SiglipImageProcessor',
    size: { height: side, width: side },
    resample: 3,
    rescale_factor: 1 / 255,
    image_mean: [0.5, 0.5, 0.5],
    image_std: [0.5, 0.5, 0.5],
  });
  for (const name of ['tokenizer.json', 'tokenizer_config.json'])
    await copyFile(join(tokenizer, name), join(folder, name));
  await pictureTower(join(folder, 'onnx', 'vision_model.onnx'), SIGLIP_BASE, 'pooler_output');
  await textTower(join(folder, 'onnx', 'text_model.onnx'), SIGLIP_TEXT);
}

function json(folder, name, value) {
  return writeFile(join(folder, name), JSON.stringify(value));
}

async function pictureTower(file, shape, output) {
  const { width, patch, side } = shape;
  const count = (side / patch) ** 2;
  const graph = new Graph();
  const strides = ints('strides', [patch, patch]);
  const seen = graph.node('Conv', ['pixel_values', graph.random(width, 3, patch, patch)], [strides]);
  const patches = graph.transposed(graph.node('Reshape', [seen, graph.integers(0, width, count)]), 0, 2, 1);
  // Creates one class token for each picture, without reading the batch size.
  const none = graph.node('Mul', [graph.node('ReduceMean', [patches], [ints('axes', [1])]), graph.same(0)]);
  const first = graph.node('Add', [none, graph.random(width)]);
  const tokens = graph.node('Concat', [first, patches], [int('axis', 1)]);
  const x = transformer(graph, tokens, { ...shape, tokens: count + 1 });
  const input = info(11, 'pixel_values', FLOAT, ['N', 3, side, side]);
  if (output === 'last_hidden_state') {
    await graph.write(file, x, [input, info(12, output, FLOAT, ['N', count + 1, width])], output);
  } else await graph.write(file, pooled(graph, x, 0, width), [input, info(12, output, FLOAT, ['N', width])], output);
}

async function textTower(file, shape) {
  const { width, tokens, vocabulary } = shape;
  const graph = new Graph();
  const rows = graph.node('Gather', [graph.random(vocabulary, width), 'input_ids']);
  const x = transformer(graph, rows, shape);
  const ends = [info(11, 'input_ids', INT64, ['N', tokens]), info(12, 'pooler_output', FLOAT, ['N', width])];
  await graph.write(file, pooled(graph, x, tokens - 1, width), ends, 'pooler_output');
}

/** Applies another linear layer to one token. */
function pooled(graph, x, token, width) {
  const one = graph.node('Gather', [x, graph.integers(token)], [int('axis', 1)]);
  return graph.linear(graph.node('Flatten', [one]), width, width);
}

function transformer(graph, from, { layers, width, heads, tokens }) {
  const head = width / heads;
  const normalized = (x) => graph.node('LayerNormalization', [x, graph.same(1, width), graph.same(0, width)]);
  const byHead = (x, ...order) =>
    graph.transposed(graph.node('Reshape', [x, graph.integers(0, tokens, heads, head)]), ...order);
  const attention = (x) => {
    const [q, k, v] = graph.node('Split', [graph.linear(x, width, 3 * width)], [int('axis', 2)], 3);
    const likeness = graph.node('MatMul', [byHead(q, 0, 2, 1, 3), byHead(k, 0, 2, 3, 1)]);
    const weight = graph.node('Softmax', [graph.node('Mul', [likeness, graph.same(head ** -0.5)])]);
    const seen = graph.transposed(graph.node('MatMul', [weight, byHead(v, 0, 2, 1, 3)]), 0, 2, 1, 3);
    return graph.linear(graph.node('Reshape', [seen, graph.integers(0, tokens, width)]), width, width);
  };
  const gelu = (x) => {
    const share = graph.node('Add', [
      graph.node('Erf', [graph.node('Mul', [x, graph.same(Math.SQRT1_2)])]),
      graph.same(1),
    ]);
    return graph.node('Mul', [graph.node('Mul', [x, share]), graph.same(0.5)]);
  };
  let x = graph.node('Add', [from, graph.random(tokens, width)]);
  for (let layer = 0; layer < layers; layer++) {
    x = graph.node('Add', [x, attention(normalized(x))]);
    x = graph.node('Add', [x, graph.linear(gelu(graph.linear(normalized(x), width, 4 * width)), 4 * width, width)]);
  }
  return normalized(x);
}

/** An ONNX graph. See https://github.com/onnx/onnx/blob/main/onnx/onnx.proto for the numbers of fields. */
class Graph {
  #nodes = [];
  #weights = [];
  #names = 0;

  node(type, inputs, attributes = [], outputs = 1) {
    const made = Array.from({ length: outputs }, () => `t${this.#names++}`);
    const names = [...inputs.map((name) => block(1, name)), ...made.map((name) => block(2, name))];
    this.#nodes.push(block(1, [...names, block(4, type), ...attributes]));
    return outputs === 1 ? made[0] : made;
  }

  linear(x, from, to) {
    return this.node('Add', [this.node('MatMul', [x, this.random(from, to)]), this.random(to)]);
  }

  transposed(x, ...order) {
    return this.node('Transpose', [x], [ints('perm', order)]);
  }

  random(...shape) {
    const values = new Float32Array(shape.reduce((product, side) => product * side, 1));
    // There are hundreds of millions of weights, so most of them repeat.
    const drawn = Math.min(values.length, 65_537);
    for (let i = 0; i < drawn; i++) values[i] = (Math.random() - 0.5) / 14;
    for (let i = drawn; i < values.length; i += drawn) values.copyWithin(i, 0, Math.min(drawn, values.length - i));
    return this.#tensor(shape, FLOAT, Buffer.from(values.buffer));
  }

  same(value, ...shape) {
    const values = new Float32Array(shape.reduce((product, side) => product * side, 1)).fill(value);
    return this.#tensor(shape, FLOAT, Buffer.from(values.buffer));
  }

  integers(...values) {
    return this.#tensor([values.length], INT64, Buffer.from(new BigInt64Array(values.map(BigInt)).buffer));
  }

  /** @param last the name of the tensor that becomes `output` */
  async write(file, last, ends, output) {
    this.#nodes.push(block(1, [block(1, last), block(2, output), block(4, 'Identity')]));
    const graph = block(7, [...this.#nodes, block(2, 'random'), ...this.#weights, ...ends]);
    const opened = await open(file, 'w');
    for (const part of [...integer(1, 8), ...graph, ...block(8, [integer(2, 17)])]) await opened.writeFile(part);
    await opened.close();
  }

  #tensor(shape, type, bytes) {
    const name = `w${this.#weights.length}`;
    const sides = shape.map((side) => integer(1, side));
    this.#weights.push(block(5, [...sides, integer(2, type), block(8, name), block(9, bytes)]));
    return name;
  }
}

function info(field, name, type, shape) {
  const sides = shape.map((side) => block(1, [typeof side === 'string' ? block(2, side) : integer(1, side)]));
  return block(field, [block(1, name), block(2, [block(1, [integer(1, type), block(2, sides)])])]);
}

function ints(name, values) {
  return block(5, [block(1, name), ...values.map((value) => integer(8, value)), integer(20, 7)]);
}

function int(name, value) {
  return block(5, [block(1, name), integer(3, value), integer(20, 2)]);
}

/**
 * Encodes a field of protobuf that contains a text, bytes or further fields. It returns several buffers, so that
 * weights are not copied.
 */
function block(field, value) {
  const parts = Array.isArray(value) ? value.flat() : [Buffer.isBuffer(value) ? value : Buffer.from(value)];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return [Buffer.concat([varint(field * 8 + 2), varint(length)]), ...parts];
}

function integer(field, value) {
  return [Buffer.concat([varint(field * 8), varint(value)])];
}

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return Buffer.from([...bytes, value]);
}
