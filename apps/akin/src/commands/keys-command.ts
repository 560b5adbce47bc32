import { createClient, type Key, type NewKey, type Scope } from '@akin/client';
import { SCOPES } from '@akin/domain';
import { listed } from '../fleet/options.ts';
import type { Program } from '../main.ts';
import { type Parsed, UsageError } from '../options.ts';
import { databaseFolder, STORE_OPTIONS } from './serve-options.ts';

/** Where keys are made, listed and revoked: in a store that nobody else has, or by a running akin. */
export interface Keys {
  create(key: NewKey): Promise<{ id: string; text: string }>;
  list(): Promise<Key[]>;
  revoke(id: string): Promise<void>;
}

export const keysCommand: Program = {
  command: {
    name: 'keys',
    usage: 'keys create|list|revoke <id>',
    about:
      'Makes, lists and revokes the keys that clients send. Writes to the embedded store, or to the database of a fleet, also while the fleet runs; where akin serves from the embedded store, name that akin with --url. create prints the key alone, this once: only a hash of it is kept.',
    options: [
      { name: 'scope', value: 'scope', about: `${SCOPES.join(', ')}: each allows what those before it do` },
      { name: 'note', value: 'text', about: 'Whose key it is and what for' },
      { name: 'collections', value: 'names', about: 'The collections that it is for, by comma; all unless given' },
      {
        name: 'origins',
        value: 'origins',
        about: 'Whose pages may use it, by comma, as https://shop.example; only for the scope search',
      },
      { name: 'rate', value: 'n', about: 'Most requests a second' },
      { name: 'expires', value: 'when', about: 'A date or time, or days as 90d' },
      { name: 'url', value: 'url', about: 'A running akin to ask, instead of a store', alsoFrom: ['AKIN_SERVER'] },
      { name: 'key', value: 'key', about: 'Key for that akin; better by its environment variable' },
      ...STORE_OPTIONS.filter(({ name }) => ['data', 'database-url'].includes(name)),
    ],
  },

  async run(options) {
    const [action, id, ...more] = options.words;
    if (more.length > 0 || (id !== undefined && action !== 'revoke')) throw new UsageError(USAGE);
    if (action === 'create') {
      const key = newKey(options);
      return withKeys(options, async (keys) => {
        const made = await keys.create(key);
        process.stdout.write(`${made.text}\n`);
        process.stderr.write(`This is the key ${made.id} (${key.scope}). It is shown this once: keep it.\n`);
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
        process.stderr.write(`The key is revoked; every gateway refuses it after a few seconds at most.\n`);
      });
    }
    throw new UsageError(USAGE);
  },
};

const USAGE = 'Say keys create --scope search|index|admin, keys list, or keys revoke <id>.';

async function withKeys(options: Parsed, run: (keys: Keys) => Promise<void>): Promise<number> {
  const url = options.text('url');
  if (url !== undefined) {
    await run(keysAt(url, options.text('key')));
    return 0;
  }
  // A command that asks another akin needs no database.
  const { openKeys } = await import('../keys-in-store.ts');
  const databaseUrl = options.server('database-url', 'postgres', 'postgresql');
  await using opened = await openKeys(databaseUrl ? { databaseUrl } : { folder: databaseFolder(options) });
  await run(opened);
  return 0;
}

function keysAt(url: string, key: string | undefined): Keys {
  const client = createClient({ baseUrl: url.replace(/\/+$/, ''), ...(key ? { key } : {}) });
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

function newKey(options: Parsed): NewKey {
  const scope = SCOPES.find((one) => one === options.text('scope')) as Scope | undefined;
  if (scope === undefined) throw new UsageError(`--scope must be one of ${SCOPES.join(', ')}.`);
  const note = options.text('note');
  const collections = listed(options.text('collections'));
  const expires = options.text('expires');
  return {
    scope,
    origins: listed(options.text('origins')),
    ...(note === undefined ? {} : { note }),
    ...(collections.length > 0 ? { collections } : {}),
    ...(options.text('rate') === undefined ? {} : { rate: options.number('rate') }),
    ...(expires === undefined ? {} : { expires }),
  };
}

function table(keys: readonly Key[]): string {
  const day = (time: string | null) => time?.slice(0, 10) ?? '-';
  const rows = [
    ['id', 'scope', 'created', 'expires', 'last used', 'rate', 'collections', 'origins', 'note'],
    ...keys.map((key) => [
      key.id,
      key.scope,
      day(key.createdAt),
      day(key.expiresAt),
      key.usedAt === null ? '-' : `${key.usedAt.slice(0, 13)}h`,
      key.rate === null ? '-' : `${key.rate}/s`,
      key.collections === null ? 'all' : key.collections.join(',') || 'none',
      key.origins.join(',') || '-',
      key.note,
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
