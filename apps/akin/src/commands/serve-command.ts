import { existsSync } from 'node:fs';
import path from 'node:path';
import { createClient } from '@akin/client';
import { moduleNames } from '@akin/modules/manifests';
import { ACCESS_OPTIONS, accessConfig } from '../access-options.ts';
import { dataFolder } from '../data-option.ts';
import { DEFAULT_PORT } from '../default-port.ts';
import { loadDemo } from '../demo/load-demo.ts';
import { ensureCollection } from '../ensure-collection.ts';
import { firstRequests } from '../first-requests.ts';
import {
  HOSTS_OPTION,
  STANDBY_OPTION,
  shutdownDelayMilliseconds,
  shutdownDelayOption,
  splitList,
  standbyUrls,
} from '../fleet/options.ts';
import { isPattern, refuseMissing } from '../folder/candidates.ts';
import { baseOf } from '../folder/glob.ts';
import { RetryableRuns } from '../folder/retryable-runs.ts';
import { FOLDER_OPTIONS, runAfterChanges, runFolders } from '../folder/run-folders.ts';
import { watchFolders } from '../folder/watch-folders.ts';
import { describeAddress, urlOnThisMachine } from '../http-address.ts';
import { downloadSettings, IMAGES_OPTIONS } from '../images-options.ts';
import { isFirstStart, offerModel } from '../models/first-model.ts';
import { MIRROR_OPTION, mirrorUrl, modelsFolder } from '../models/models-folder.ts';
import { openInBrowser } from '../open-in-browser.ts';
import { UsageError } from '../options.ts';
import { indexedFolders } from '../originals/indexed-folders.ts';
import type { CommandModule } from '../program.ts';
import { printProgress } from './models-command.ts';
import {
  CORS_OPTION,
  embeddedConfig,
  LEGACY_OPTION,
  SEARCH_MEMORY_OPTION,
  STORE_OPTIONS,
  searchMemory,
  THROTTLE_OPTION,
  uploadLimits,
  WAITING_OPTIONS,
  waitingLimits,
} from './serve-options.ts';

export const serveCommand: CommandModule = {
  command: {
    name: 'serve',
    usage: 'serve [folder|glob …]',
    description:
      'Serves collections and a web page from this process. With folders, indexes their pictures into the collection while it serves, and again when files change.',
    options: [
      {
        name: 'port',
        valueName: 'n',
        description: 'Port to listen on; 0 chooses a free port',
        default: String(DEFAULT_PORT),
        otherVariables: ['PORT'],
      },
      { name: 'host', valueName: 'address', description: 'Address to listen on', default: '127.0.0.1' },
      {
        name: 'allow-open-network',
        description:
          'Require no key from other machines. Then everybody who can connect can read and delete everything',
      },
      {
        name: 'first-key',
        description: 'If a key is required and none exists, create one with the scope admin and print it once',
      },
      shutdownDelayOption(0),
      { name: 'no-demo', description: 'Do not fill an empty collection with the demo' },
      {
        name: 'poll',
        valueName: 'seconds',
        description: 'Look at the folders at this interval, for network drives that do not report changes',
      },
      { name: 'no-open', description: 'Do not open the page in a browser' },
      ...ACCESS_OPTIONS,
      HOSTS_OPTION,
      CORS_OPTION,
      LEGACY_OPTION,
      ...WAITING_OPTIONS,
      THROTTLE_OPTION,
      SEARCH_MEMORY_OPTION,
      {
        name: 'parts',
        description:
          'Also find parts of pictures: crops, collages, screenshots, turned and mirrored copies. Takes 3.6 kB for each picture, and 1.5 kB of the search memory',
      },
      STANDBY_OPTION,
      ...STORE_OPTIONS,
      MIRROR_OPTION,
      ...IMAGES_OPTIONS,
      ...FOLDER_OPTIONS,
    ],
  },

  async run(options, signal) {
    const pollSeconds = options.text('poll') === undefined ? undefined : options.number('poll', MAX_POLL_SECONDS);
    // Of a folder whose drive is not connected, akin shows what it knows.
    const known = await indexedFolders(dataFolder(options), options.text('collection') ?? '');
    await refuseMissing(options.positionals.filter((word) => !known.includes(path.resolve(word))));
    // Its data folder contains more than a database.
    const databaseUrl = options.serverUrl('database-url', 'postgres', 'postgresql');
    const mirror = mirrorUrl(options);
    const isAsking = process.stdin.isTTY && process.stdout.isTTY && databaseUrl === undefined;
    const folder = dataFolder(options);
    if (isAsking && mirror !== undefined && options.text('content-model') === undefined && isFirstStart(folder)) {
      const where = { dataFolder: folder, models: modelsFolder(options), mirror, progress: printProgress() };
      await offerModel(where, { input: process.stdin, output: process.stdout }, signal);
    }
    const config = { ...embeddedConfig(options), mirror, ...(databaseUrl ? { databaseUrl } : {}) };
    const standbys = standbyUrls(options);
    if (standbys.length > 0 && config.databaseUrl === undefined) {
      throw new UsageError(
        '--search-database-url names standbys of --database-url (or DATABASE_URL), which is missing.',
      );
    }
    const listen = {
      host: options.text('host') ?? '127.0.0.1',
      allowOpenNetwork: options.isOn('allow-open-network'),
      access: accessConfig(options),
    };
    // Loaded only if needed: help and wrong options are answered without a server.
    const [{ requiresKeys, isLoopback }, { serve }] = await Promise.all([
      import('@akin/gateway'),
      import('../serve.ts'),
    ]);
    const allowedHosts = splitList(options.text('allowed-hosts'));
    const isReachableByOthers = !isLoopback(listen.host) || allowedHosts.length > 0 || (listen.access.proxies ?? 0) > 0;
    const retryable = new RetryableRuns();
    const started = serve(
      {
        ...config,
        ...listen,
        port: options.number('port', 65_535),
        corsOrigins: splitList(options.text('cors')),
        shutdownDelayMilliseconds: shutdownDelayMilliseconds(options),
        allowedHosts,
        ...(options.isOn('first-key') ? { printFirstKey } : {}),
        // Otherwise other machines could make akin fetch from services that only this machine can reach.
        downloads: downloadSettings(options, !isReachableByOthers),
        legacySegment: options.text('legacy-segment') ?? 'solr',
        limits: { ...uploadLimits(options), ...waitingLimits(options) },
        throttled: !options.isOn('no-throttle'),
        searchMemory: searchMemory(options),
        ...(options.isOn('parts') ? { defaultModules: [...moduleNames, 'parts'] } : {}),
        standbyUrls: standbys,
        retryRun: (run) => retryable.start(run),
      },
      signal,
    );
    await using served = await started.catch((error) => {
      if (!signal.aborted) throw error;
      return undefined;
    });
    if (served === undefined) return 0;
    const { url } = served.gateway;
    const ownUrl = urlOnThisMachine(url);
    const client = createClient({ baseUrl: ownUrl, retries: 0, key: served.key });
    const collection = await ensureCollection(client, options.text('collection'));
    const { backend, backendReason } = served.analyzer;
    const why = backendReason === undefined ? '' : ` (${backendReason})`;
    process.stdout.write(`akin answers at ${describeAddress(url)} and analyzes pictures on ${backend}${why}\n`);
    if (!options.isOn('no-open') && process.stdout.isTTY) openInBrowser(ownUrl);
    let code = 0;
    const run = {
      collection,
      analyzer: served.analyzer,
      models: served.models,
      threads: config.analysis.threads,
      signal,
      retryable,
      failed: new Map<string, string>(),
      absent: new Set<string>(),
      dataFolder: config.dataFolder,
    };
    if (options.positionals.length > 0) {
      code = await runFolders(options, run);
    } else if (!options.isOn('no-demo')) {
      await loadDemo({
        collection,
        analyzer: served.analyzer,
        models: served.models,
        dataFolder: config.dataFolder,
        signal,
        printLine: (line) => process.stdout.write(`${line}\n`),
      });
    }
    if (!signal.aborted) process.stdout.write(await firstRequests(client, collection.name, requiresKeys(listen)));
    // Paths on standard input can be read only once.
    if (!signal.aborted && options.positionals.length > 0 && !options.positionals.includes('-')) {
      await watchFolders(foldersOf(options.positionals), () => runAfterChanges(options, run), {
        except: config.dataFolder,
        pollMilliseconds: pollSeconds === undefined ? undefined : Math.max(1, pollSeconds) * 1_000,
        printLine: (line) => process.stderr.write(`${line}\n`),
        signal,
      });
    }
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await retryable.ended();
    return code === 130 ? 0 : code;
  },
};

const MAX_POLL_SECONDS = 86_400;

/** The folders on the command line, absolute; of a pattern, the folder before its first wildcard. */
function foldersOf(words: readonly string[]): string[] {
  const isGlob = (word: string) => isPattern(word) && !existsSync(word);
  return words.map((word) => (isGlob(word) ? baseOf(word) : path.resolve(word)));
}

function printFirstKey(key: string): void {
  process.stdout.write(
    `The first key. It has the scope admin and is shown only once: save it.\n\n  ${key}\n\nThe page asks for it. Programs send it as Authorization: Bearer. It can create other keys: docs/keys.md\n\n`,
  );
}
