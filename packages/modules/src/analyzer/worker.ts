import { AkinError } from '@akin/domain';
import { type Analysis, type AnalyzeOptions, analyzeImage } from './analyze-image.ts';

export interface Task {
  readonly bytes: Uint8Array;
  readonly options: AnalyzeOptions;
}

/** Errors are returned as values, because thrown errors lose their class and code between threads. */
export type Reply =
  | { readonly analysis: Analysis }
  | { readonly error: Pick<AkinError, 'code' | 'message' | 'details'> };

export default async function analyze({ bytes, options }: Task): Promise<Reply> {
  try {
    return { analysis: await analyzeImage(bytes, options) };
  } catch (error) {
    if (!(error instanceof AkinError)) throw error;
    return { error: { code: error.code, message: error.message, details: error.details } };
  }
}
