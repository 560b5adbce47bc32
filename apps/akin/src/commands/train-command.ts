import path from 'node:path';
import { trainContentModel } from '@akin/modules/analyze';
import { StoppedError } from '@akin/runtime';
import { contentModelFolder } from '../models/models-folder.ts';
import { UsageError } from '../options.ts';
import type { CommandModule } from '../program.ts';
import { CONTENT_MODEL_OPTIONS } from './analysis-options.ts';

const PROGRESS_EVERY = 200;

export const trainCommand: CommandModule = {
  command: {
    name: 'train',
    usage: 'train <folder of pictures>',
    description:
      'Calibrates the scores of your own content model on pictures like those that you will search: at least 100, better some thousands. Writes into the folder of the model; the vectors stay the same. If a signal stops the command, it writes nothing. Exit code 130 (Ctrl-C) or 143.',
    options: [...CONTENT_MODEL_OPTIONS],
  },

  async run(options, signal) {
    const folder = options.text('content-model');
    const [pictures, ...more] = options.positionals;
    if (!pictures || more.length > 0) throw new UsageError('Name one folder of pictures.');
    if (folder === undefined) throw new UsageError('Name the model with --content-model.');
    try {
      const trained = await trainContentModel({
        folder: contentModelFolder(folder, options),
        pictures: path.resolve(pictures),
        signal,
        progress: (done, all) => {
          if (done % PROGRESS_EVERY === 0 || done === all) process.stderr.write(`${done} of ${all} files\n`);
        },
        skip: (file, why) => process.stderr.write(`${file}: ${why}\n`),
      });
      process.stdout.write(`content=${trained.model}, calibrated on ${trained.pictures} pictures\n`);
      return 0;
    } catch (error) {
      if (!(error instanceof StoppedError)) throw error;
      process.stderr.write(`${error.message} The folder of the model is unchanged.\n`);
      return error.exitCode;
    }
  },
};
