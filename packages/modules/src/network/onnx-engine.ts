import { loadOnnxRuntime, ONNX_OPTIONS } from './backend.ts';
import type { EngineOutputs, OpenEngine } from './engine.ts';
import type { Model } from './model.ts';
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
  run(inputs: { readonly pixels: OnnxTensor }): Promise<Readonly<Record<string, OnnxTensor>>>;
}

/** The engine of ONNX Runtime. The graph is generated from the same weights when the network is opened. */
export const onnxEngine: OpenEngine = async <Head extends string>(model: Model<Head>) => {
  const { default: onnx } = (await loadOnnxRuntime()) as { default: OnnxRuntime };
  const session = await onnx.InferenceSession.create(writeOnnx(model), ONNX_OPTIONS);
  const { width, height } = model.spec.input;
  return {
    async run(values, count) {
      const outputs = await session.run({
        pixels: new onnx.Tensor('float32', values, [count, height, width, 3]),
      });
      const rows = Object.entries(outputs).map(([name, { data }]) => [name, data]);
      return Object.fromEntries(rows) as EngineOutputs<Head>;
    },
  };
};
