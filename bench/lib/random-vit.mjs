import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/*
 * A vision transformer of the shape of DINOv2 small (22 million weights: 12 layers, 384 numbers, 6 heads, patches of 14
 * pixels) with random weights, in the layout of Hugging Face: as fast as a trained one, and just as large.
 */

const [LAYERS, WIDTH, HEADS, PATCH, SIDE] = [12, 384, 6, 14, 224];
const HEAD = WIDTH / HEADS;
const PATCHES = (SIDE / PATCH) ** 2;
const TOKENS = PATCHES + 1;

/** Writes the model into a folder. */
export async function writeRandomVit(folder) {
  const json = (name, value) => writeFile(join(folder, name), JSON.stringify(value));
  await mkdir(join(folder, 'onnx'), { recursive: true });
  await json('config.json', { model_type: 'dinov2', hidden_size: WIDTH, image_size: SIDE, patch_size: PATCH });
  await json('preprocessor_config.json', {
    ...{ do_resize: true, do_center_crop: true, do_rescale: true, do_normalize: true, do_convert_rgb: true },
    ...{ size: { shortest_edge: 256 }, crop_size: { height: SIDE, width: SIDE }, resample: 3 },
    ...{ image_mean: [0.485, 0.456, 0.406], image_std: [0.229, 0.224, 0.225], rescale_factor: 1 / 255 },
    image_processor_type: 'BitImageProcessor',
  });
  await writeFile(join(folder, 'onnx', 'model.onnx'), modelFile());
}

/** The file, see https://github.com/onnx/onnx/blob/main/onnx/onnx.proto for the numbers of fields. */
function modelFile() {
  const nodes = [];
  const weights = [];
  let names = 0;
  const node = (type, inputs, attributes = [], outputs = 1) => {
    const made = Array.from({ length: outputs }, () => `t${names++}`);
    nodes.push(
      block(1, [
        ...inputs.map((name) => block(1, name)),
        ...made.map((name) => block(2, name)),
        ...[block(4, type), ...attributes],
      ]),
    );
    return outputs === 1 ? made[0] : made;
  };
  const tensor = (shape, type, bytes) => {
    const name = `w${weights.length}`;
    const sides = shape.map((side) => integer(1, side));
    weights.push(block(5, [...sides, integer(2, type), block(8, name), block(9, bytes)]));
    return name;
  };
  const floats = (shape, value) => {
    const values = new Float32Array(shape.reduce((product, side) => product * side, 1)).map(value);
    return tensor(shape, 1, Buffer.from(values.buffer));
  };
  const random = (...shape) => floats(shape, () => (Math.random() - 0.5) / 14);
  const same = (value, ...shape) => floats(shape, () => value);
  const integers64 = (...values) =>
    tensor([values.length], 7, Buffer.from(new BigInt64Array(values.map(BigInt)).buffer));
  const ints = (name, values) =>
    block(5, [block(1, name), ...values.map((value) => integer(8, value)), integer(20, 7)]);
  const int = (name, value) => block(5, [block(1, name), integer(3, value), integer(20, 2)]);

  const linear = (x, from, to) => node('Add', [node('MatMul', [x, random(from, to)]), random(to)]);
  const normalized = (x) => node('LayerNormalization', [x, same(1, WIDTH), same(0, WIDTH)]);
  const transposed = (x, ...order) => node('Transpose', [x], [ints('perm', order)]);
  const byHead = (x, ...order) => transposed(node('Reshape', [x, integers64(0, TOKENS, HEADS, HEAD)]), ...order);
  const attention = (x) => {
    const [q, k, v] = node('Split', [linear(x, WIDTH, 3 * WIDTH)], [int('axis', 2)], 3);
    const likeness = node('MatMul', [byHead(q, 0, 2, 1, 3), byHead(k, 0, 2, 3, 1)]);
    const weight = node('Softmax', [node('Mul', [likeness, same(HEAD ** -0.5)])]);
    const seen = transposed(node('MatMul', [weight, byHead(v, 0, 2, 1, 3)]), 0, 2, 1, 3);
    return linear(node('Reshape', [seen, integers64(0, TOKENS, WIDTH)]), WIDTH, WIDTH);
  };
  const gelu = (x) => {
    const share = node('Add', [node('Erf', [node('Mul', [x, same(Math.SQRT1_2)])]), same(1)]);
    return node('Mul', [node('Mul', [x, share]), same(0.5)]);
  };

  const seen = node('Conv', ['pixel_values', random(WIDTH, 3, PATCH, PATCH)], [ints('strides', [PATCH, PATCH])]);
  const patches = transposed(node('Reshape', [seen, integers64(0, WIDTH, PATCHES)]), 0, 2, 1);
  // As many first tokens as pictures, without asking for their number.
  const first = node('Mul', [node('ReduceMean', [patches], [ints('axes', [1])]), same(0)]);
  const tokens = node('Concat', [node('Add', [first, random(WIDTH)]), patches], [int('axis', 1)]);
  let x = node('Add', [tokens, random(TOKENS, WIDTH)]);
  for (let layer = 0; layer < LAYERS; layer++) {
    x = node('Add', [x, attention(normalized(x))]);
    x = node('Add', [x, linear(gelu(linear(normalized(x), WIDTH, 4 * WIDTH)), 4 * WIDTH, WIDTH)]);
  }
  const output = 'last_hidden_state';
  nodes.push(block(1, [block(1, normalized(x)), block(2, output), block(4, 'Identity')]));
  const info = (field, name, shape) => {
    const sides = shape.map((side) => block(1, [typeof side === 'string' ? block(2, side) : integer(1, side)]));
    return block(field, [block(1, name), block(2, [block(1, [integer(1, 1), block(2, sides)])])]);
  };
  const ends = [info(11, 'pixel_values', ['N', 3, SIDE, SIDE]), info(12, output, ['N', TOKENS, WIDTH])];
  const graph = block(7, [...nodes, block(2, 'random'), ...weights, ...ends]);
  return Buffer.concat([integer(1, 8), graph, block(8, [integer(2, 17)])]);
}

/** A field of protobuf that holds a text, bytes or further fields. */
function block(field, value) {
  const bytes = Array.isArray(value) ? Buffer.concat(value) : Buffer.from(value);
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
}

function integer(field, value) {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return Buffer.from([...bytes, value]);
}
