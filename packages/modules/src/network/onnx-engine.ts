import { loadOnnxRuntime, ONNX_OPTIONS } from './backend.ts';
import type { OpenEngine } from './engine.ts';
import { writeOnnx } from './onnx-file.ts';

interface OnnxRuntime {
  readonly Tensor: new (type: 'float32', data: Float32Array, shape: readonly number[]) => OnnxTensor;
  readonly InferenceSession: {
    create(file: Uint8Array, options: Readonly<Record<string, unknown>>): Promise<OnnxSession>;
  };
}

interface OnnxTensor {
  readonly data: Float32Array;
}

interface OnnxSession {
  run(inputs: { readonly pixels: OnnxTensor }): Promise<{ readonly pool: OnnxTensor; readonly vector: OnnxTensor }>;
}

/** The engine of ONNX Runtime. The graph is generated from the same weights when the network is opened. */
export const onnxEngine: OpenEngine = async (model) => {
  const { default: onnx } = (await loadOnnxRuntime()) as { default: OnnxRuntime };
  const session = await onnx.InferenceSession.create(writeOnnx(model), ONNX_OPTIONS);
  const { width, height } = model.spec.input;
  return {
    async run(values, count) {
      const { pool, vector } = await session.run({
        pixels: new onnx.Tensor('float32', values, [count, height, width, 3]),
      });
      return { pool: pool.data, vector: vector.data };
    },
  };
};
