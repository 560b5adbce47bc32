import { AkinRequestError, createClient, type Key, type NewKey, type Scope } from '@akin/client';
import { SCOPES } from '@akin/domain';
import { givenUrl } from '../bulk/options.ts';
import { databaseFolder, databaseUrl, dataFolder } from '../data-option.ts';
import { splitList } from '../fleet/options.ts';
import { httpAddress } from '../http-address.ts';
import type { Keys } from '../keys-in-store.ts';
import { type ParsedOptions, UsageError } from '../options.ts';
import type { CommandModule } from '../program.ts';
import { runningServer } from '../server-file.ts';
import { textTable } from '../text-table.ts';
import { STORE_OPTIONS } from './serve-options.ts';

export const keysCommand: CommandModule = {
  command: {
    name: 'keys',
    usage: 'keys create|list|revoke <id>',
    description:
      'Creates, lists and revokes the keys that clients send. Writes to the embedded store, or to the database of a fleet, which may be running. If an akin serves from the embedded store, that akin does it. create prints the key only once, because akin stores only its hash.',
    options: [
      { name: 'scope', valueName: 'scope', description: `${SCOPES.join(', ')}: each includes the ones before it` },
      { name: 'note', valueName: 'text', description: 'Owner and purpose of the key' },
      {
        name: 'collections',
        valueName: 'names',
        description: 'Collections that the key may use, separated by commas. Default: all',
      },
      {
        name: 'origins',
        valueName: 'origins',
        description:
          'Origins whose pages may use the key, separated by commas, such as https://shop.example. Only for the scope search',
      },
      {
        name: 'filter',
        valueName: 'query',
        description: 'The key sees only documents that match this query, such as tenant:a',
      },
      {
        name: 'set',
        valueName: 'field=value',
        isRepeatable: true,
        description:
          'A field that each document that the key writes gets, such as tenant=a, so that it matches --filter. Without it a key with a filter may not write',
      },
      { name: 'rate', valueName: 'n', description: 'Maximum number of requests per second' },
      { name: 'expires', valueName: 'when', description: 'A date, a time, or a number of days such as 90d' },
      {
        name: 'url',
        valueName: 'url',
        description: 'URL of a running akin to use instead of a store',
        otherVariables: ['AKIN_SERVER'],
      },
      { name: 'key', valueName: 'key', description: 'Key to send to akin. The environment variable is safer' },
      ...STORE_OPTIONS.filter(({ name }) => ['data', 'database-url'].includes(name)),
    ],
  },

  async run(options) {
    const [action, id, ...more] = options.positionals;
    if (more.length > 0 || (id !== undefined && action !== 'revoke')) throw new UsageError(USAGE);
    if (action === 'create') {
      const key = newKey(options);
      return withKeys(options, async (keys) => {
        const made = await keys.create(key);
        process.stdout.write(`${made.text}\n`);
        process.stderr.write(`This is the key ${made.id} (${key.scope}). It is shown only once: save it.\n`);
      });
    }
    if (action === 'list') {
      return withKeys(options, async (keys) => {
        process.stdout.write(table(await keys.list()));
      });
    }
    if (action === 'revoke' && id !== undefined) {
      return withKeys(options, async (keys) => {
        await keys.revoke(id);
        process.stderr.write(`The key is revoked. Every gateway refuses it within a few seconds.\n`);
      });
    }
    throw new UsageError(USAGE);
  },
};

const USAGE = 'Use keys create --scope search|index|admin, keys list, or keys revoke <id>.';

async function withKeys(options: ParsedOptions, run: (keys: Keys) => Promise<void>): Promise<number> {
  const key = options.text('key');
  const url = givenUrl(options);
  if (url !== undefined) {
    await run(keysAt(httpAddress('url', url), key));
    return 0;
  }
  const database = databaseUrl(options);
  const server = database ? undefined : await runningServer(dataFolder(options));
  if (server) {
    await run(keysAt(server.url, key)).catch((error) => {
      if (!(error instanceof AkinRequestError) || ![401, 403].includes(error.status)) throw error;
      throw new UsageError(
        `${error.message}\nThe akin that serves from ${dataFolder(options)} (pid ${server.pid}, at ${server.url}) refused the request: set AKIN_KEY to a key with the scope admin, or stop that akin and run this command again.`,
      );
    });
    return 0;
  }
  const { openKeys } = await import('../keys-in-store.ts');
  await using opened = await openKeys(database ? { databaseUrl: database } : { folder: databaseFolder(options) });
  await run(opened);
  return 0;
}

function keysAt(url: string, key: string | undefined): Keys {
  const client = createClient({ baseUrl: url, retries: 0, ...(key ? { key } : {}) });
  return {
    async create(request) {
      const { id, key: text } = await client.createKey(request);
      return { id, text };
    },
    list: async () => (await client.keys()).keys,
    revoke: async (id) => {
      await client.revokeKey(id);
    },
  };
}

function newKey(options: ParsedOptions): NewKey {
  const scope = SCOPES.find((one) => one === options.text('scope')) as Scope | undefined;
  if (scope === undefined) throw new UsageError(`--scope must be one of ${SCOPES.join(', ')}.`);
  const note = options.text('note');
  const collections = limitTo(options, 'collections');
  const filter = options.text('filter');
  const set = options.texts('set');
  const expires = options.text('expires');
  return {
    scope,
    origins: limitTo(options, 'origins'),
    ...(note === undefined ? {} : { note }),
    ...(collections.length > 0 ? { collections } : {}),
    ...(filter === undefined ? {} : { filter }),
    ...(set.length > 0 ? { set } : {}),
    ...(options.text('rate') === undefined ? {} : { rate: options.number('rate') }),
    ...(expires === undefined ? {} : { expires }),
  };
}

/** @throws UsageError if the option names none: the key would be without this limit */
function limitTo(options: ParsedOptions, name: string): string[] {
  const names = splitList(options.text(name));
  if (names.length > 0 || options.text(name) === undefined) return names;
  throw new UsageError(`--${name} names none: give names separated by commas, or remove it.`);
}

function table(keys: readonly Key[]): string {
  const day = (time: string | null) => time?.slice(0, 10) ?? '-';
  return textTable([
    ['id', 'scope', 'created', 'expires', 'last used', 'rate', 'collections', 'origins', 'filter', 'set', 'note'],
    ...keys.map((key) => [
      key.id,
      key.scope,
      day(key.createdAt),
      day(key.expiresAt),
      key.usedAt === null ? '-' : `${key.usedAt.slice(0, 16).replace('T', ' ')} UTC`,
      key.rate === null ? '-' : `${key.rate}/s`,
      key.collections === null ? 'all' : key.collections.join(',') || 'none',
      key.origins.join(',') || '-',
      key.filter ?? '-',
      key.set.join(' ') || '-',
      key.note,
    ]),
  ]);
}
