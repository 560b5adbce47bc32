import type { Reindex } from '@akin/client';
import { sleep } from '@akin/runtime';
import { findServer, SERVER_OPTIONS } from '../bulk/options.ts';
import { persist } from '../bulk/persist.ts';
import { ProgressLine } from '../bulk/progress-line.ts';
import { dropPictures, readPicturesAgain } from '../folder/pictures-again.ts';
import type { Program } from '../program.ts';
import { ANALYSIS_OPTIONS } from './serve-options.ts';

const LOOK_MILLISECONDS = 500;
const TOLD_MISSING = 20;

export const reindexCommand: Program = {
  command: {
    name: 'reindex',
    usage: 'reindex [<folder> …]',
    about:
      'Builds a new copy of a collection and swaps the two in one step: for other field types, or after a change of models. Outputs that are still valid are copied. Other pictures are analyzed again: akin fetches them from their addresses, or the command reads them from a folder that you name. Searches and changes go on. The server does the work: if you stop the command, run it again to watch. Exit code 0: done; 2: some documents cannot be copied, and nothing was swapped; 1: something else went wrong; 130: stopped watching.',
    options: [
      ...SERVER_OPTIONS,
      { name: 'field', value: 'name:type,…', about: 'Fields that get another type, separated by commas' },
      { name: 'allow-missing', about: 'Swap even if some documents cannot be copied' },
      ...ANALYSIS_OPTIONS,
      { name: 'patience', value: 'seconds', about: 'Give up if akin does not answer for this long', default: '300' },
    ],
  },

  async run(options, signal) {
    const { client, name } = await findServer(options);
    const collection = client.collection(name);
    const pictures = options.words.length > 0 ? await readPicturesAgain(client, name, options, signal) : undefined;
    const patience = options.number('patience') * 1_000;
    const parameters = {
      field: (options.text('field') ?? '').split(',').filter(Boolean),
      allowMissing: options.on('allow-missing'),
      ...(pictures ? { outputsFrom: pictures.name } : {}),
    };
    /** Whether the run is another's, which may know nothing of what this command line names. */
    let joined = false;
    const begin = async (): Promise<Reindex> => {
      const { began, ...answer } = await persist(() => collection.reindex(parameters), patience, signal);
      joined = began === false;
      if (joined) {
        process.stderr.write(
          `${name} is being made anew by a run that had begun before: this command joins it, and what is named here may not count.\n`,
        );
      }
      return answer;
    };
    let status = await begin();
    const line = new ProgressLine(process.stderr, () => ({
      documents: status.copied,
      failed: status.missing.length,
      share: status.documents > 0 ? Math.min(1, status.copied / status.documents) : undefined,
      note: status.analyzed > 0 ? `${status.state}, ${status.analyzed} pictures again` : status.state,
    }));
    try {
      for (;;) {
        await sleep(LOOK_MILLISECONDS, signal);
        status = await persist(() => collection.reindexStatus(), patience, signal);
        const ended = status.state === 'done' || status.state === 'failed';
        // What that run had no pictures for, this one may have.
        const again = joined && pictures !== undefined && status.missing.length > 0;
        if (ended && !again) break;
        // Or the process that did it is gone.
        if (ended || !status.alive) status = await begin();
      }
    } finally {
      line.finish();
    }
    const missing = status.missing.slice(0, TOLD_MISSING).map(({ id, msg }) => `  ${id}: ${msg}`);
    const rest = status.missing.length - missing.length;
    if (rest > 0) missing.push(`  and ${rest} more`);
    if (status.state === 'failed') {
      process.stdout.write(`${[status.message ?? 'It failed.', ...missing].join('\n')}\n`);
      return missing.length > 0 ? 2 : 1;
    }
    const left = missing.length > 0 ? ['These did not come along:', ...missing] : [];
    const again = status.analyzed > 0 ? `, ${status.analyzed} pictures analyzed again` : '';
    process.stdout.write(
      `${[`${name} is made anew: ${status.copied} documents copied${again}, in ${line.seconds.toFixed(1)} s.`, ...left].join('\n')}\n`,
    );
    if (pictures) await dropPictures(client, name, patience, signal);
    return 0;
  },
};
