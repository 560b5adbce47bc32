import { ORIENTATIONS } from '../picture/orientations.ts';
import { type Conv2d, type Layer, type Model, pooledWidth, type WholeMap } from './model.ts';
import { block, type Field, integer, integers, join } from './protobuf.ts';
import { indexesInAllOrientations } from './symmetric.ts';

/** The newest versions that runtimes of 2023 support; no newer features are used. */
const IR_VERSION = 8;
const OPSET = 13;

const FLOAT = 1;
const INT64 = 7;
/** Values of `AttributeProto.AttributeType`. */
const INT = 2;
const INTS = 7;

/**
 * Writes a model as an ONNX file: input `pixels` [N, height, width, 3] of normalized numbers, outputs `pool` and, before
 * normalization, `vector` [N, …]. Field numbers are those of onnx.proto3.
 */
export function writeOnnx(model: Model): Uint8Array {
  const { width, height } = model.spec.input;
  const graph = new Graph(model);
  let x = graph.add('Transpose', ['pixels'], [intsAttribute('perm', [0, 3, 1, 2])]);
  for (const layer of model.spec.layers) x = graph.layer(layer, x);
  graph.add('Flatten', [x], [intAttribute('axis', 1)], 'pool');
  const pooled = pooledWidth(model.spec.layers);
  const { name, dim } = model.spec.head;
  const weight = graph.weights(`${name}.weight`, [pooled, dim], model.tensors.get(`${name}.weight`, [pooled, dim]));
  const bias = graph.weights(`${name}.bias`, [dim], model.tensors.get(`${name}.bias`, [dim]));
  graph.add('Gemm', ['pool', weight, bias], [], 'vector');
  return join([
    integer(1, IR_VERSION),
    block(2, 'akin'),
    block(7, [
      ...graph.nodes,
      block(2, model.id),
      ...graph.initializers,
      valueInfo(11, 'pixels', ['N', height, width, 3]),
      valueInfo(12, 'pool', ['N', pooled]),
      valueInfo(12, 'vector', ['N', dim]),
    ]),
    block(8, [integer(2, OPSET)]),
  ]);
}

class Graph {
  readonly nodes: Field[] = [];
  readonly initializers: Field[] = [];
  readonly #model: Model;

  constructor(model: Model) {
    this.#model = model;
  }

  add(type: string, inputs: readonly string[], attributes: readonly Field[], output = `${this.nodes.length}`): string {
    const named = inputs.map((input) => block(1, input));
    this.nodes.push(block(1, [...named, block(2, output), block(4, type), ...attributes]));
    return output;
  }

  weights(name: string, shape: readonly number[], values: Float32Array): string {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    this.initializers.push(block(5, [integers(1, shape), integer(2, FLOAT), block(8, name), block(9, bytes)]));
    return name;
  }

  layer(layer: Layer, x: string): string {
    if (layer.op === 'conv2d') return this.#conv2d(layer, x);
    if (layer.op === 'globalAveragePool') return this.add('GlobalAveragePool', [x], []);
    if (layer.op === 'wholeMap') return this.#wholeMap(layer, x);
    if (layer.op === 'takeApart') return this.#reshape(x, [-1, layer.channels, 1, 1]);
    if (layer.op === 'meanOfParts') {
      const parts = this.#reshape(x, [-1, layer.count, layer.channels, 1, 1]);
      return this.add('ReduceMean', [parts], [intsAttribute('axes', [1]), intAttribute('keepdims', 0)]);
    }
    const first = this.#conv2d(layer.a, x);
    const through = layer.b === null ? first : this.#conv2d(layer.b, first);
    const past = layer.skip === null ? x : this.#conv2d(layer.skip, x);
    return this.add('Relu', [this.add('Add', [through, past], [])], []);
  }

  /** Adds a reshape; a side of -1 is inferred from the others. */
  #reshape(x: string, shape: readonly number[]): string {
    return this.add('Reshape', [x, this.#integers(shape)], []);
  }

  #integers(values: ArrayLike<number>): string {
    const name = `numbers of ${this.nodes.length}`;
    const bytes = new Uint8Array(BigInt64Array.from(Array.from(values), BigInt).buffer);
    this.initializers.push(
      block(5, [integers(1, [values.length]), integer(2, INT64), block(8, name), block(9, bytes)]),
    );
    return name;
  }

  #wholeMap({ name, side, in: ins, out }: WholeMap, x: string): string {
    const { tensors } = this.#model;
    const [size, filters] = [side * side * ins, out / ORIENTATIONS];
    const kernel = tensors.get(`${name}.weight`, [side, side, ins, filters]);
    const weight = this.weights(`${name}.weight`, [size, filters], kernel);
    const bias = this.weights(`${name}.bias`, [filters], tensors.get(`${name}.bias`, [filters]));
    const rows = this.#reshape(this.add('Transpose', [x], [intsAttribute('perm', [0, 2, 3, 1])]), [-1, size]);
    const indexes = this.#integers(indexesInAllOrientations(side, ins));
    const turned = this.#reshape(this.add('Gather', [rows, indexes], [intAttribute('axis', 1)]), [
      -1,
      ORIENTATIONS,
      size,
    ]);
    const outputs = this.add('Relu', [this.add('Add', [this.add('MatMul', [turned, weight], []), bias], [])], []);
    return this.#reshape(this.add('Transpose', [outputs], [intsAttribute('perm', [0, 2, 1])]), [-1, out, 1, 1]);
  }

  #conv2d(layer: Conv2d, x: string): string {
    const [height, width] = layer.kernel;
    const { name, stride, pad } = layer;
    const kernel = this.#model.tensors.get(`${name}.weight`, [height, width, layer.in, layer.out]);
    const shape = [layer.out, layer.in, height, width];
    const weight = this.weights(`${name}.weight`, shape, channelsFirst(kernel, layer));
    const bias = this.weights(`${name}.bias`, [layer.out], this.#model.tensors.get(`${name}.bias`, [layer.out]));
    const output = this.add(
      'Conv',
      [x, weight, bias],
      [intsAttribute('strides', [stride, stride]), intsAttribute('pads', [pad, pad, pad, pad])],
    );
    return layer.activation === 'relu' ? this.add('Relu', [output], []) : output;
  }
}

/** From HWIO, the layout of the stored weights, to OIHW, the layout of ONNX. */
function channelsFirst(kernel: Float32Array, { kernel: [height, width], in: ins, out: outs }: Conv2d): Float32Array {
  const turned = new Float32Array(kernel.length);
  const area = height * width;
  for (let at = 0, from = 0; at < area; at++) {
    for (let i = 0; i < ins; i++) {
      for (let o = 0; o < outs; o++, from++) turned[(o * ins + i) * area + at] = kernel[from] as number;
    }
  }
  return turned;
}

function intAttribute(name: string, value: number): Field {
  return block(5, [block(1, name), integer(3, value), integer(20, INT)]);
}

function intsAttribute(name: string, values: readonly number[]): Field {
  return block(5, [block(1, name), integers(8, values), integer(20, INTS)]);
}

/**
 * Name and shape of an input (field 11 of a graph) or output (12) of floats; a text is a dimension of variable size.
 */
function valueInfo(number: 11 | 12, name: string, shape: readonly (number | string)[]): Field {
  const dimensions = shape.map((side) => block(1, [typeof side === 'string' ? block(2, side) : integer(1, side)]));
  const tensor = block(1, [integer(1, FLOAT), block(2, dimensions)]);
  return block(number, [block(1, name), block(2, [tensor])]);
}
