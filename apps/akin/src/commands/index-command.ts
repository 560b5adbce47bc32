import { createClient } from '@akin/client';
import { givenUrl, isReady, isStoreNamed, SERVER_OPTIONS } from '../bulk/options.ts';
import { DEFAULT_URL } from '../default-port.ts';
import { ensureCollection } from '../ensure-collection.ts';
import { FOLDER_OPTIONS, runFolders } from '../folder/run-folders.ts';
import { httpAddress } from '../http-address.ts';
import { ContentModels } from '../models/content-models.ts';
import { createModelAnalyzers } from '../models/model-analyzers.ts';
import { type ParsedOptions, UsageError } from '../options.ts';
import type { CommandModule } from '../program.ts';
import { dataFolderAt, runningServer } from '../server-file.ts';
import { embeddedConfig, STORE_OPTIONS } from './serve-options.ts';

export const indexCommand: CommandModule = {
  command: {
    name: 'index',
    usage: 'index <folder|glob|-> …',
    description:
      'Indexes the pictures of folders, of globs, or of the paths on standard input (-). The pictures go to the running akin, or into the embedded store if none is running. If the command is stopped, run it again to continue. Exit code 0: all are indexed; 2: some failed; 130: stopped.',
    options: [
      {
        name: 'url',
        valueName: 'url',
        description: 'URL of the running akin, if it is not on this machine',
        otherVariables: ['AKIN_SERVER'],
      },
      {
        name: 'port',
        valueName: 'n',
        description: `Port of the akin on this machine. Default: the akin that serves from the data folder, else ${DEFAULT_URL} unless --data or --database-url names a store`,
        otherVariables: ['PORT'],
      },
      ...SERVER_OPTIONS.filter(({ name }) => name === 'key'),
      ...FOLDER_OPTIONS,
      ...STORE_OPTIONS,
    ],
  },

  async run(options, signal) {
    if (options.positionals.length === 0)
      throw new UsageError('Name a folder, a glob, or - for paths on standard input.');
    const config = embeddedConfig(options);
    const named = givenUrl(options);
    if (named !== undefined && options.isGiven('port')) {
      throw new UsageError(
        `--port and --url (or AKIN_URL or AKIN_SERVER: ${named}) exclude each other: give only one of them.`,
      );
    }
    const url = await addressOf(options, config.dataFolder);
    const key = options.text('key');
    const client = createClient({ baseUrl: url ?? '', retries: 0, ...(key ? { key } : {}) });
    if (url !== undefined && (await isReady(client, url))) {
      const models = new ContentModels({ contentModel: config.analysis.contentModel, models: config.models });
      await using analyzer = await createModelAnalyzers(config.analysis, models);
      const isNamed = named !== undefined || options.isGiven('port');
      const servedFolder = (await dataFolderAt(url)) ?? (isNamed ? undefined : config.dataFolder);
      return await runFolders(options, {
        collection: await ensureCollection(client, options.text('collection')),
        analyzer,
        models,
        threads: config.analysis.threads,
        signal,
        // An akin that is named by its URL may be on another machine, and by its port, may have another data folder.
        ...(servedFolder === undefined ? {} : { dataFolder: servedFolder }),
      });
    }
    if (named !== undefined) throw new UsageError(`No akin answers at ${url}.`);
    // Loaded only if needed: a server takes longer to load than a short run takes.
    const { serve } = await import('../serve.ts');
    await using served = await serve(config, signal);
    const nobody = url === undefined ? '' : `No akin answers at ${url}. `;
    process.stderr.write(`${nobody}While this command runs, the page is at ${served.gateway.url}/\n`);
    const embedded = createClient({ baseUrl: served.gateway.url, retries: 0 });
    return await runFolders(options, {
      collection: await ensureCollection(embedded, options.text('collection')),
      analyzer: served.analyzer,
      models: served.models,
      threads: config.analysis.threads,
      signal,
      dataFolder: config.dataFolder,
    });
  },
};

/** The URL of the akin that may get the pictures. Undefined: the command opens the store that it names. */
async function addressOf(options: ParsedOptions, dataFolder: string): Promise<string | undefined> {
  const named = givenUrl(options);
  if (named !== undefined) return httpAddress('url', named);
  const isOwnStore = isStoreNamed(options);
  if (options.isGiven('port') || (!isOwnStore && options.text('port') !== undefined)) {
    return `http://127.0.0.1:${options.number('port', 65_535)}`;
  }
  // The akin of the default data folder may have another database than the one that is named.
  const served = isOwnStore && !options.isGiven('data') ? undefined : await runningServer(dataFolder);
  return served?.url ?? (isOwnStore ? undefined : DEFAULT_URL);
}
