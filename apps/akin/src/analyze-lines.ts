import { promises as fs } from 'node:fs';
import { AkinError, badRequest, decodeBase64 } from '@akin/domain';
import { DEFAULT_IMAGE_LIMITS } from '@akin/imaging';
import type { Analysis, Analyzer } from '@akin/modules/analyze';
import { analyzeFile } from './folder/analyze-file.ts';
import { reasonOf } from './folder/walk.ts';

export interface Line {
  readonly ok: boolean;
  readonly line: string;
}

/**
 * Analyzes the inputs and yields one line of JSON for each, in order. Up to `threads` pictures are processed at the
 * same time. At most twice as many inputs are read ahead, and the analyzer limits the bytes of their files in memory.
 *
 * An input is a path, or a JSON object `{"data": "<base64>", …}` or `{"file": "<path>", …}`. Its other members are
 * copied to its line. An output line is `{"file"?, …, "width", "height", "outputs"}`, where `outputs` is the text that
 * `import` takes, or `{"file"?, …, "error": {"code", "msg"}}`.
 */
export async function* analyzeLines(
  inputs: AsyncIterable<string> | Iterable<string>,
  analyzer: Analyzer,
  options: { threads: number; modules: readonly string[]; signal: AbortSignal },
): AsyncGenerator<Line> {
  const underway: Promise<Line>[] = [];
  for await (const input of inputs) {
    options.signal.throwIfAborted();
    if (input.trim() === '') continue;
    underway.push(analyzeLine(input, analyzer, options));
    if (underway.length >= options.threads * 2) yield (await underway.shift()) as Line;
  }
  for (const line of underway) {
    options.signal.throwIfAborted();
    yield await line;
  }
  options.signal.throwIfAborted();
}

async function analyzeLine(
  input: string,
  analyzer: Analyzer,
  options: { modules: readonly string[]; signal: AbortSignal },
): Promise<Line> {
  let about: Record<string, unknown> = { file: input };
  try {
    const request = readInput(input);
    about = request.about;
    const { outputs, width, height } =
      request.data === undefined
        ? (await analyzeFile(analyzer, { file: request.file, bytes: await sizeOf(request.file) }, options)).analysis
        : await analyzeText(request.data, analyzer, options);
    return { ok: true, line: JSON.stringify({ ...about, width, height, outputs }) };
  } catch (error) {
    const code = error instanceof AkinError ? error.code : 'bad-request';
    const msg = error instanceof AkinError ? error.message : reasonOf(error);
    return { ok: false, line: JSON.stringify({ ...about, error: { code, msg } }) };
  }
}

function readInput(input: string): { about: Record<string, unknown>; file: string; data?: string } {
  if (!input.trimStart().startsWith('{')) return { about: { file: input }, file: input };
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(input);
  } catch (cause) {
    throw badRequest(`This line is neither a path nor JSON: ${(cause as Error).message}`);
  }
  const { data, ...about } = parsed;
  if (typeof data === 'string') return { about, file: '', data };
  if (typeof about.file === 'string') return { about, file: about.file };
  throw badRequest('A line of JSON needs "data" (base64 of a picture) or "file" (a path).');
}

async function analyzeText(
  base64: string,
  analyzer: Analyzer,
  options: { modules: readonly string[]; signal: AbortSignal },
): Promise<Analysis> {
  const release = await analyzer.files.acquire(options.signal, { weight: base64.length });
  try {
    return await analyzer.analyze(decodeBase64(base64, DEFAULT_IMAGE_LIMITS.bytes), options);
  } finally {
    release();
  }
}

/** @throws AkinError if it is not a file */
async function sizeOf(file: string): Promise<number> {
  const about = await fs.stat(file);
  // A pipe or a device may never end, and a read of it cannot be cancelled.
  if (!about.isFile()) throw badRequest('it is not a file');
  return about.size;
}
