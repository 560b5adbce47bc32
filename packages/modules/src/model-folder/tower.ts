import { AkinError, badRequest, readHalves, writeHalves } from '@akin/domain';
import { locatePackage, ONNX_OPTIONS } from '../network/backend.ts';
import { requireRegularFile } from '../weights/require-regular-file.ts';
import { missingPackageError } from './missing-package-error.ts';

interface OnnxRuntime {
  readonly Tensor: new (type: string, data: unknown, shape: readonly number[]) => Tensor;
  readonly InferenceSession: { create(file: string, options: Readonly<Record<string, unknown>>): Promise<Session> };
}

interface Tensor {
  readonly type: string;
  readonly data: ArrayLike<number>;
  readonly dims: readonly number[];
}

interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Missing in versions before 1.21. */
  readonly inputMetadata?: readonly { readonly name: string; readonly type?: string }[];
  run(inputs: Readonly<Record<string, Tensor>>, outputs: readonly string[]): Promise<Readonly<Record<string, Tensor>>>;
}

export interface Input {
  readonly shape: readonly number[];
  readonly values: Float32Array | BigInt64Array;
}

export interface Tower {
  readonly inputNames: readonly string[];
  /** Returns the vector of the first batch item, not scaled to unit length. */
  run(inputs: Readonly<Record<string, Input>>): Promise<Float32Array>;
}

/**
 * @param output the name of the output that is the vector, or whose first row is the vector
 * @throws {AkinError} bad-request when the file is damaged or has no such output; conflict when the package is missing.
 */
export async function openTower(file: string, output: string): Promise<Tower> {
  // Opening a pipe would block this thread for ever.
  for (const part of [file, `${file}_data`]) requireRegularFile(part);
  const onnx = await loadRuntime();
  let session: Session;
  try {
    session = await onnx.InferenceSession.create(file, {
      ...ONNX_OPTIONS,
      logSeverityLevel: 3,
    });
  } catch (cause) {
    throw badRequest(`${file} cannot be opened: ${reasonOf(cause)}`, { cause });
  }
  if (!session.outputNames.includes(output)) {
    throw badRequest(
      `${file} has no output ${JSON.stringify(output)}; it has ${session.outputNames.join(', ').slice(0, 200)}.`,
    );
  }
  const halves = new Set(
    (session.inputMetadata ?? []).filter(({ type }) => type === 'float16').map(({ name }) => name),
  );
  return {
    inputNames: session.inputNames,
    async run(inputs) {
      const feeds = Object.entries(inputs).map(([name, { values, shape }]) => {
        if (values instanceof BigInt64Array) return [name, new onnx.Tensor('int64', values, shape)] as const;
        if (!halves.has(name)) return [name, new onnx.Tensor('float32', values, shape)] as const;
        return [name, new onnx.Tensor('float16', halvesOf(values), shape)] as const;
      });
      let tensor: Tensor;
      try {
        tensor = (await session.run(Object.fromEntries(feeds), [output]))[output] as Tensor;
      } catch (cause) {
        throw badRequest(`${file} cannot be run: ${reasonOf(cause)}`, { cause });
      }
      const width = tensor.dims.at(-1) ?? 0;
      const vector = numbersOf(tensor).slice(0, width);
      if (vector.every(Number.isFinite)) return vector;
      throw badRequest(`${file} gives numbers that are not finite (NaN or infinity).`);
    },
  };
}

async function loadRuntime(): Promise<OnnxRuntime> {
  const name = 'onnxruntime-node';
  const file = locatePackage(name);
  if (file === undefined) throw missingPackageError(name);
  try {
    return ((await import(file)) as { default: OnnxRuntime }).default;
  } catch (cause) {
    throw new AkinError('conflict', `${name} does not load here: ${reasonOf(cause)}`, { cause });
  }
}

/** Half-precision numbers come as `Float16Array` if Node has it, otherwise as their bits. */
function numbersOf({ data }: Tensor): Float32Array {
  if (!(data instanceof Uint16Array)) return Float32Array.from(data);
  return readHalves(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), 0, data.length);
}

function halvesOf(values: Float32Array): Uint16Array {
  const bytes = new Uint8Array(values.length * 2);
  writeHalves(values, bytes, 0);
  return new Uint16Array(bytes.buffer);
}

const LONGEST_REASON = 300;

function reasonOf(cause: unknown): string {
  const { message } = cause as Error;
  return message.length > LONGEST_REASON ? `${message.slice(0, LONGEST_REASON)}…` : message;
}
