import { loadPackageOf } from './backend.ts';
import type { OpenEngine } from './engine.ts';
import { writeOnnx } from './onnx-file.ts';

/** What is used of onnxruntime-node, which is installed by those who want it. */
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
  run(inputs: { readonly pixels: OnnxTensor }): Promise<Record<'pool' | 'content' | 'duplicate', OnnxTensor>>;
}

/** The engine of ONNX Runtime, on a graph that is written from the same weights when it is opened. */
export const onnxEngine: OpenEngine = async (model) => {
  const { default: onnx } = (await loadPackageOf('onnx')) as { default: OnnxRuntime };
  const session = await onnx.InferenceSession.create(writeOnnx(model), {
    executionProviders: ['cpu'],
    // Pictures are worked on at the same time, each by one thread.
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
  });
  const { width, height } = model.spec.input;
  return {
    async run(values, count) {
      const { pool, content, duplicate } = await session.run({
        pixels: new onnx.Tensor('float32', values, [count, height, width, 3]),
      });
      return { pool: pool.data, content: content.data, duplicate: duplicate.data };
    },
  };
};
