import path from 'node:path';
import { useContentModel } from '@akin/modules/vectors';
import { StoppedError } from '@akin/runtime';
import { KNOWN_MODELS, knownModel } from '../models/known-models.ts';
import { downloadedModels, MIRROR_OPTION, MODELS_OPTION, mirrorUrl, modelsFolder } from '../models/models-folder.ts';
import { type FileProgress, pull } from '../models/pull.ts';
import { UsageError } from '../options.ts';
import type { CommandModule } from '../program.ts';
import { textTable } from '../text-table.ts';

const USAGE = 'Use: akin models, or akin models pull <name>';

export const modelsCommand: CommandModule = {
  command: {
    name: 'models',
    usage: 'models [pull <name>]',
    description:
      'Lists the content models that akin knows by name, and downloads one. A stopped download continues where it stopped, and every file is checked by its hash. akin downloads nothing without this command or a click on its page.',
    options: [MODELS_OPTION, MIRROR_OPTION],
  },

  async run(options, signal) {
    const [action, name, ...more] = options.positionals;
    const folder = modelsFolder(options);
    if (action === undefined) {
      process.stdout.write(list(folder));
      return 0;
    }
    if (action !== 'pull' || name === undefined || more.length > 0) throw new UsageError(USAGE);
    const model = knownModel(name);
    if (model === undefined) {
      const names = KNOWN_MODELS.map((one) => one.name).join(', ');
      throw new UsageError(`akin knows no model ${name}. It knows ${names}. Give other models as a folder.`);
    }
    const mirror = mirrorUrl(options);
    if (mirror === undefined) throw new UsageError('--mirror is off: no model is downloaded.');
    const target = path.join(folder, name);
    process.stderr.write(`${name} (${model.licence}), about ${model.megabytes} MB, goes to ${target}\n`);
    try {
      const downloaded = await pull({ model, folder: target, mirror, progress: printProgress() }, signal);
      process.stderr.write(downloaded === 0 ? 'All files are here.\n' : '');
    } catch (error) {
      if (!(error instanceof StoppedError)) throw error;
      process.stderr.write(`${error.message} Run the command again to continue.\n`);
      return error.exitCode;
    }
    // Checked now rather than at the start of a server: whether akin can read the model.
    useContentModel(target);
    process.stdout.write(`akin serve --content-model ${name}\n`);
    return 0;
  },
};

function list(folder: string): string {
  const here = new Set(downloadedModels(folder));
  const rows = KNOWN_MODELS.map(({ name, numbers, megabytes, licence, about }) => [
    name,
    `${numbers} dimensions`,
    `${megabytes} MB`,
    licence,
    about,
    here.has(name) ? 'here' : '',
  ]);
  const others = [...here].filter((name) => !knownModel(name)).map((name) => [name, '', '', '', '', 'here']);
  return `${textTable([...rows, ...others])}\nModels are in ${folder}. Download one: akin models pull <name>\n`;
}

const PROGRESS_MILLISECONDS = 2_000;
const TERMINAL_PROGRESS_MILLISECONDS = 200;

/** One line per file that is redrawn on a terminal. Elsewhere, a new line every two seconds. */
export function printProgress(): FileProgress {
  const { isTTY } = process.stderr;
  let printedAt = 0;
  return (file, bytes, all) => {
    const ended = bytes === all;
    const now = performance.now();
    if (!ended && now - printedAt < (isTTY ? TERMINAL_PROGRESS_MILLISECONDS : PROGRESS_MILLISECONDS)) return;
    printedAt = now;
    const share = all ? ` of ${megabytes(all)} MB, ${Math.floor((bytes / all) * 100)} %` : ' MB';
    const line = `${file}: ${megabytes(bytes)}${share}`;
    process.stderr.write(isTTY ? `\r\x1b[K${line}${ended ? '\n' : ''}` : `${line}\n`);
  };
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
