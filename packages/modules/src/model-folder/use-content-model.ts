import { basename, resolve } from 'node:path';
import { type AkinError, badRequest } from '@akin/domain';
import { type Codebook, codebookOf, useCodebook } from '../vectors/codebook.ts';
import { untrainedCodebook } from './codebook.ts';
import { readModelFolder } from './files.ts';

/**
 * Makes a model in the layout of Hugging Face the content model of this process or thread. Call it before outputs are
 * read, compared or written. It reads the configuration, and the weights to compute their hash.
 *
 * @throws {AkinError} bad-request when the folder contains no model of a supported kind; the message says what is wrong
 */
export function useContentModel(folder: string): void {
  useCodebook('content', contentCodebook(folder));
}

/** @throws {AkinError} as {@link useContentModel} does. */
export function contentCodebook(folder: string): Codebook {
  return { ...untrainedCodebook(readModelFolder(folder)), name: basename(resolve(folder)) };
}

export function noTextEncoder(model = codebookOf('content').model): AkinError {
  return badRequest(
    `The content model ${model} cannot find pictures by words: it has no text encoder. To find words in the fields of documents, send them as q. For pictures, move the collection to one that does, such as siglip-base-patch16-224: akin models pull siglip-base-patch16-224, then akin reindex --content-model siglip-base-patch16-224 (docs/content-models.md).`,
  );
}
