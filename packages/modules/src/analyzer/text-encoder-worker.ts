import { AkinError, stringifyJson } from '@akin/domain';
import { contentManifest } from '../content/manifest.ts';
import { untrainedCodebook } from '../model-folder/codebook.ts';
import { readModelFolder } from '../model-folder/files.ts';
import { openTextTower } from '../model-folder/words.ts';
import { useCodebook } from '../vectors/codebook.ts';
import { memoizeAsync } from '../weights/memoize-async.ts';
import { writeOutputs } from './write-outputs.ts';

export interface TextTask {
  readonly text: string;
  readonly folder: string;
  readonly name: string;
}

/** The result for a text: outputs of the module content, in the same form as for a picture. */
export interface TextAnalysis {
  readonly outputs: string;
  readonly warnings: readonly string[];
}

export type TextReply =
  | { readonly analysis: TextAnalysis }
  | { readonly error: Pick<AkinError, 'code' | 'message' | 'details'> };

const open = memoizeAsync(async (folder: string, name: string) => {
  const describe = await openTextTower(folder, name);
  useCodebook('content', untrainedCodebook(readModelFolder(folder)));
  return describe;
});

export default async function encodeText({ text, folder, name }: TextTask): Promise<TextReply> {
  try {
    const { model, vector, truncatedTokens } = await (await open(folder, name))(text);
    const outputs = writeOutputs(contentManifest, { content_descriptor: { model, vector } });
    const start = JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
    const warnings =
      truncatedTokens === 0
        ? []
        : [`The text ${start} is too long for the model: its last ${truncatedTokens} tokens were left out.`];
    return { analysis: { outputs: stringifyJson(outputs), warnings } };
  } catch (error) {
    if (!(error instanceof AkinError)) throw error;
    return { error: { code: error.code, message: error.message, details: error.details } };
  }
}
