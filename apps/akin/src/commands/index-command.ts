import { createClient } from '@akin/client';
import { createAnalyzer } from '@akin/modules/analyze';
import { SERVER_OPTIONS } from '../bulk/options.ts';
import { collectionToFill } from '../collection-to-fill.ts';
import { DEFAULT_PORT } from '../default-port.ts';
import { FOLDER_OPTIONS, runFolders } from '../folder/run-folders.ts';
import type { Program } from '../main.ts';
import { UsageError } from '../options.ts';
import { serve } from '../serve.ts';
import { embeddedConfig, STORE_OPTIONS } from './serve-options.ts';

export const indexCommand: Program = {
  command: {
    name: 'index',
    usage: 'index <folder|glob|-> …',
    about:
      'Indexes the pictures of folders, of globs, or of the paths on standard input (-). It sends them to a running akin when one answers, else it writes to the embedded store. Stopped, the same command goes on where it was. Exit code 0: all are in; 2: some failed; 130: stopped.',
    options: [
      { name: 'url', value: 'url', about: 'The running akin, if it is not on this machine', alsoFrom: ['AKIN_SERVER'] },
      {
        name: 'port',
        value: 'n',
        about: 'Port of the akin on this machine',
        default: String(DEFAULT_PORT),
        alsoFrom: ['PORT'],
      },
      ...SERVER_OPTIONS.filter(({ name }) => name === 'key'),
      ...FOLDER_OPTIONS,
      ...STORE_OPTIONS,
    ],
  },

  async run(options, signal) {
    if (options.words.length === 0) throw new UsageError('Name a folder, a glob, or - for paths on standard input.');
    const config = embeddedConfig(options);
    const named = options.text('url');
    if (named !== undefined && options.named('port')) {
      throw new UsageError(
        `--port is for an akin on this machine, and --url (or AKIN_URL or AKIN_SERVER) names ${named}: leave one of them out.`,
      );
    }
    const url = named ?? `http://127.0.0.1:${options.number('port', 65_535)}`;
    const key = options.text('key');
    const client = createClient({ baseUrl: url, ...(key ? { key } : {}) });
    if (await client.isReady()) {
      await using analyzer = await createAnalyzer(config.analysis);
      return await runFolders(options, {
        collection: await collectionToFill(client, options.text('collection')),
        analyzer,
        threads: config.analysis.threads,
        signal,
      });
    }
    if (named !== undefined) throw new UsageError(`No akin answers at ${url}.`);
    await using served = await serve(config, signal);
    process.stderr.write(`No akin answers at ${url}. Until all is in, the page answers at ${served.gateway.url}/\n`);
    const embedded = createClient({ baseUrl: served.gateway.url });
    return await runFolders(options, {
      collection: await collectionToFill(embedded, options.text('collection')),
      analyzer: served.analyzer,
      threads: config.analysis.threads,
      signal,
    });
  },
};
