import { AkinError, badRequest, decodeBase64, readPictureAddress, withErrorContext } from '@akin/domain';
import type { Analysis, AnalyzeImage, AnalyzeOptions, Original } from '../config.ts';
import type { Context } from '../context.ts';

export type PictureOptions = Omit<AnalyzeOptions, 'urgent' | 'signal'>;

/**
 * The analysis of a picture that a client waits for.
 *
 * @param input an http(s) URL, or base64, a data URI (whatever type it declares) or the placeholder of a file
 * @param parameter its name, for messages
 * @param options as those of `AnalyzeImage`
 * @throws AkinError about the URL, the text or the picture; unavailable if it takes too long
 */
export async function analyzePicture(
  input:
    | { readonly url: string }
    | { readonly data: string }
    | { readonly bytes: Uint8Array }
    | { readonly original: Original },
  parameter: string,
  modules: readonly string[],
  signal: AbortSignal,
  context: Context,
  options: PictureOptions = {},
): Promise<Analysis> {
  const picture = withErrorContext(parameter, () => {
    if ('bytes' in input || 'original' in input) return input;
    return 'url' in input ? { url: requireHttp(input.url) } : { bytes: pictureBytes(input.data, context) };
  });
  return analyzed(picture, modules, options, signal, context);
}

/** The module whose descriptors words can be compared with. */
export const TEXT_MODULE = 'content';
/** Maximum length of the words of a search, in characters. */
const MAX_TEXT = 1000;

/**
 * The outputs of words that a client waits for: only those of the module content.
 *
 * @param parameter its name, for messages
 * @param model content model whose outputs they are compared with; undefined: that of the process
 * @throws AkinError bad-request about the text, or if the content model has no text encoder; unavailable if it takes
 * too long
 */
export async function analyzeText(
  words: string,
  parameter: string,
  model: string | undefined,
  signal: AbortSignal,
  context: Context,
): Promise<Analysis> {
  const text = words.trim();
  const length = [...text].length;
  if (length === 0 || length > MAX_TEXT) {
    throw badRequest(`Parameter ${parameter} has ${length} characters; 1 to ${MAX_TEXT} are allowed.`);
  }
  return analyzed({ text }, [TEXT_MODULE], { model }, signal, context);
}

async function analyzed(
  input: Parameters<AnalyzeImage>[0] | { readonly original: Original },
  modules: readonly string[],
  options: PictureOptions,
  signal: AbortSignal,
  context: Context,
): Promise<Analysis> {
  const tooLate = AbortSignal.timeout(context.limits.analyzeMilliseconds);
  const either = AbortSignal.any([signal, tooLate]);
  const { fetchedPictures, sentPictures } = context.semaphores;
  try {
    return await ('url' in input ? fetchedPictures : sentPictures).run(either, context, () => {
      const call = { ...options, urgent: true, signal: either };
      return 'original' in input ? input.original.analyze(modules, call) : context.analyze(input, modules, call);
    });
  } catch (error) {
    if (!tooLate.aborted || error instanceof AkinError) throw error;
    throw new AkinError('unavailable', 'The analysis took too long: try again later.', { cause: error });
  }
}

function pictureBytes(data: string, { files, limits }: Context): Uint8Array {
  return files.get(data) ?? decodeBase64(data, limits.pictureBytes);
}

function requireHttp(url: string): string {
  const read = readPictureAddress(url);
  if ('address' in read) return read.address;
  throw badRequest(`The URL of a picture ${read.problem}. A file is sent as the part file of multipart/form-data.`);
}
