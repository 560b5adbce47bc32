import { AkinRequestError, type Collection, type Reindex } from '@akin/client';
import { sleep } from '@akin/runtime';
import { findServer, outageOption, SERVER_OPTIONS } from '../bulk/options.ts';
import { bulkProgressLine } from '../bulk/progress-line.ts';
import { retryTransient } from '../bulk/retry-transient.ts';
import { splitList } from '../fleet/options.ts';
import { dropPictures, reanalyzePictures } from '../folder/reanalyze-pictures.ts';
import { modelNameOf } from '../models/models-folder.ts';
import type { ParsedOptions } from '../options.ts';
import type { CommandModule } from '../program.ts';
import { ANALYSIS_OPTIONS } from './analysis-options.ts';

const POLL_MILLISECONDS = 500;
const MAX_PRINTED_MISSING = 20;

export const reindexCommand: CommandModule = {
  command: {
    name: 'reindex',
    usage: 'reindex [<folder> …]',
    description:
      'Builds a new copy of a collection and swaps the two in one step: for other field types, or after a change of models. With --content-model <name>, the collection changes to that model. Valid outputs are copied. Other pictures are analyzed again: from their URLs, from the folders that akin indexed, from a folder that you name, or else from the thumbnails. Searches and changes continue. The server does the work: if you stop the command, run it again to watch. Exit code 0: done; 2: some documents cannot be copied, and nothing was swapped; 1: another error; 130: stopped watching.',
    options: [
      ...SERVER_OPTIONS,
      { name: 'field', valueName: 'name:type,…', description: 'New types of fields, separated by commas' },
      { name: 'shards', valueName: 'number', description: 'Number of shards. Default: unchanged' },
      { name: 'pause', description: 'Pause the running reindex' },
      { name: 'resume', description: 'Continue a paused reindex, and watch it' },
      { name: 'allow-missing', description: 'Swap even if some documents cannot be copied' },
      ...ANALYSIS_OPTIONS,
      outageOption(300),
    ],
  },

  async run(options, signal) {
    const { client, name } = await findServer(options);
    const collection = client.collection(name);
    const pictures =
      options.positionals.length > 0 ? await reanalyzePictures(client, name, options, signal) : undefined;
    const maxOutageMilliseconds = options.number('max-outage') * 1_000;
    const model = modelNameOf(options);
    const shards = options.text('shards') === undefined ? undefined : options.number('shards');
    const parameters = {
      field: splitList(options.text('field')),
      allowMissing: options.isOn('allow-missing'),
      ...(model === undefined ? {} : { model }),
      ...(shards === undefined ? {} : { shards }),
      ...(pictures ? { outputsFrom: pictures.name } : {}),
    };
    /** Whether somebody else started the run. It may then ignore the options of this command line. */
    let joined = false;
    const begin = async (): Promise<Reindex> => {
      try {
        const begun = await retryTransient(() => collection.reindex(parameters), maxOutageMilliseconds, signal);
        joined = false;
        return begun;
      } catch (error) {
        if (!(error instanceof AkinRequestError && error.status === 409)) throw error;
        joined = true;
        process.stderr.write(
          `${error.message} This command watches it; the options that you gave may have no effect.\n`,
        );
        return retryTransient(() => collection.reindexStatus(), maxOutageMilliseconds, signal);
      }
    };
    let status = options.isOn('pause') || options.isOn('resume') ? await change(collection, options) : await begin();
    const paused = `The reindex of ${name} is paused. Continue with: akin reindex --resume --collection ${name}\n`;
    if (options.isOn('pause')) {
      process.stdout.write(paused);
      return 0;
    }
    const done = () => Math.max(0, status.copied - status.pending);
    const line = bulkProgressLine(process.stderr, () => ({
      documents: done(),
      failed: status.missing.length,
      share: status.documents > 0 ? Math.min(1, done() / status.documents) : undefined,
      note: status.analyzed > 0 ? `${status.state}, ${status.analyzed} pictures analyzed again` : status.state,
    }));
    try {
      for (;;) {
        await sleep(POLL_MILLISECONDS, signal);
        status = await retryTransient(() => collection.reindexStatus(), maxOutageMilliseconds, signal);
        const ended = status.state === 'done' || status.state === 'failed';
        // This run may have pictures that the earlier run did not have.
        const again = joined && pictures !== undefined && status.missing.length > 0;
        if (ended && again) status = await begin();
        else if (ended || status.state === 'paused') break;
      }
    } finally {
      line.finish();
    }
    if (status.state === 'paused') {
      process.stdout.write(paused);
      return 1;
    }
    const missing = status.missing.slice(0, MAX_PRINTED_MISSING).map(({ id, msg }) => `  ${id}: ${msg}`);
    const rest = status.missing.length - missing.length;
    if (rest > 0) missing.push(`  and ${rest} more`);
    if (status.state === 'failed') {
      process.stdout.write(`${[status.message ?? 'It failed.', ...missing].join('\n')}\n`);
      return missing.length > 0 ? 2 : 1;
    }
    const left = missing.length > 0 ? ['These documents were not copied:', ...missing] : [];
    const from = status.thumbnails > 0 ? `, ${status.thumbnails} of them from their thumbnails` : '';
    const again = status.analyzed > 0 ? `, ${status.analyzed} pictures analyzed again${from}` : '';
    process.stdout.write(
      `${[`${name} is reindexed: ${status.copied} documents copied${again}, in ${line.seconds.toFixed(1)} s.`, ...left].join('\n')}\n`,
    );
    if (pictures) await dropPictures(client, name, maxOutageMilliseconds, signal);
    return 0;
  },
};

function change(collection: Collection, options: ParsedOptions): Promise<Reindex> {
  return options.isOn('pause') ? collection.pauseReindex() : collection.resumeReindex();
}
