import { AkinError, decodeBase64, naming } from '@akin/domain';
import type { Analysis, AnalyzeImage } from '../config.ts';
import type { Context } from '../context.ts';
import { type Files, MAX_PICTURE_BYTES } from '../http/pictures.ts';

interface PictureOptions {
  readonly model?: string | undefined;
  readonly thumbnail?: boolean;
}

/**
 * The analysis of a picture that a person waits for.
 *
 * @param input an http(s) address, or base64, a data URI (whatever type that declares) or what stands for a file
 * @param parameter where it came in, for messages
 * @param options.model of content; that of this akin when not given
 * @param options.thumbnail also makes the thumbnail that is kept of the picture
 * @throws AkinError about the address, the text or the picture; unavailable when it takes too long
 */
export async function analyzePicture(
  input: { readonly url: string } | { readonly data: string } | { readonly bytes: Uint8Array },
  parameter: string,
  modules: readonly string[],
  signal: AbortSignal,
  context: Context,
  options: PictureOptions = {},
): Promise<Analysis> {
  const picture = naming(parameter, () => {
    if ('bytes' in input) return input;
    return 'url' in input ? { url: requireHttp(input.url) } : { bytes: bytesOf(input.data, context.files) };
  });
  return analyzed(picture, modules, options, signal, context);
}

/** The module whose descriptors words can be compared with. */
export const WORDS_MODULE = 'content';
/** The longest text of a search, in characters. */
const MAX_TEXT = 1000;

/**
 * The outputs of words that a person waits for: those of the module content alone.
 *
 * @param parameter where they came in, for messages
 * @param model of content, with whose outputs they are to be compared; that of this akin when undefined
 * @throws AkinError bad-request about the text, or when the content model knows no words; unavailable when it takes too long
 */
export async function analyzeWords(
  words: string,
  parameter: string,
  model: string | undefined,
  signal: AbortSignal,
  context: Context,
): Promise<Analysis> {
  const text = words.trim();
  const length = [...text].length;
  if (length === 0 || length > MAX_TEXT) {
    throw new AkinError('bad-request', `Parameter ${parameter} has ${length} characters; it takes 1 to ${MAX_TEXT}.`);
  }
  return analyzed({ text }, [WORDS_MODULE], { model }, signal, context);
}

async function analyzed(
  input: Parameters<AnalyzeImage>[0],
  modules: readonly string[],
  options: PictureOptions,
  signal: AbortSignal,
  context: Context,
): Promise<Analysis> {
  const tooLate = AbortSignal.timeout(context.limits.analyzeMilliseconds);
  const either = AbortSignal.any([signal, tooLate]);
  const { fetchedPictures, sentPictures } = context.semaphores;
  try {
    return await ('url' in input ? fetchedPictures : sentPictures).run(context.client, either, () =>
      context.analyze(input, modules, { ...options, urgent: true, signal: either }),
    );
  } catch (error) {
    if (!tooLate.aborted || error instanceof AkinError) throw error;
    throw new AkinError('unavailable', 'The analysis took too long: try again later.', { cause: error });
  }
}

function bytesOf(data: string, files: Files): Uint8Array {
  return files.get(data) ?? decodeBase64(data, MAX_PICTURE_BYTES);
}

function requireHttp(url: string): string {
  const trimmed = url.trim();
  if (/^https?:\/\//i.test(trimmed) && URL.canParse(trimmed)) return trimmed;
  throw new AkinError('bad-request', 'The URL of a picture must be whole and begin with http:// or https://.');
}
