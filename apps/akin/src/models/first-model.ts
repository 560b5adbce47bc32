import { existsSync, promises as fs } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { installCommand } from '@akin/imaging';
import { locatePackage } from '@akin/modules/analyze';
import { modelSetWith, OWN_MODEL } from '@akin/modules/vectors';
import { openDataFolder } from '../data-folder.ts';
import { CHOICE_FILE } from './chosen-model.ts';
import { type KnownModel, knownModel } from './known-models.ts';
import { type FileProgress, pull } from './pull.ts';

/** Small, with a free licence, and much better than akin's own network. */
const OFFERED = 'dinov2-small-q8';
const PACKAGE = 'onnxruntime-node';

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

export interface FirstStart {
  readonly dataFolder: string;
  readonly models: string;
  readonly mirror: string;
  readonly progress: FileProgress;
}

/** Whether no akin has used a data folder, and the user was not asked. */
export function isFirstStart(dataFolder: string): boolean {
  return !existsSync(path.join(dataFolder, 'database')) && !existsSync(path.join(dataFolder, CHOICE_FILE));
}

/**
 * Asks once whether to download a better model, and remembers the answer in the data folder. Whatever happens, akin can
 * start afterwards.
 *
 * @throws the reason of the signal
 */
export async function offerModel({ dataFolder, ...where }: FirstStart, terminal: Terminal, signal: AbortSignal) {
  const model = knownModel(OFFERED) as KnownModel;
  const question = `akin's own network is small; get ${model.name} (${model.megabytes} MB, ${model.licence}) for much better results? [y/N] `;
  const chosen = (await ask(question, terminal, signal)) && (await get(model, where, terminal, signal));
  await openDataFolder(dataFolder, () => {});
  const file = path.join(dataFolder, CHOICE_FILE);
  await fs.writeFile(file, `${chosen ? model.name : OWN_MODEL}\n`, { mode: 0o600 });
}

/** @returns whether the answer is yes; the end of the input is a no */
async function ask(question: string, { input, output }: Terminal, signal: AbortSignal): Promise<boolean> {
  output.write(question);
  // Not in raw mode: Ctrl-C stays a signal.
  const lines = createInterface({ input, terminal: false, signal });
  const answer = await new Promise<string>((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => resolve(''));
  });
  lines.close();
  signal.throwIfAborted();
  return /^\s*y(es)?\s*$/i.test(answer);
}

/** @returns whether akin can use the model */
async function get(
  model: KnownModel,
  { models, mirror, progress }: Omit<FirstStart, 'dataFolder'>,
  { output }: Terminal,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const folder = path.join(models, model.name);
    await pull({ model, folder, mirror, progress }, signal);
    // Whether akin can read it: later starts use it without a question.
    modelSetWith(folder);
    if (locatePackage(PACKAGE) !== undefined) return true;
    output.write(
      `The model needs ${PACKAGE}, which is not installed. akin begins with its own network. For the model, run: ${installCommand(PACKAGE)}; then start akin with --content-model ${model.name}\n`,
    );
  } catch (error) {
    signal.throwIfAborted();
    output.write(
      `${(error as Error).message} akin begins with its own network. Later: akin models pull ${model.name}\n`,
    );
  }
  return false;
}
