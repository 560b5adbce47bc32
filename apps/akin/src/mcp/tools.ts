import {
  type CollectionSummary,
  KeyError,
  type RankInput,
  type SearchOptions,
  type SimilarOptions,
  type TypedCollection,
} from '@akin/client';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

const texts = z.union([z.string(), z.array(z.string())]);

const PICTURES = {
  id: texts.optional().describe('Ids of stored documents'),
  file: texts.optional().describe('Paths of pictures on this machine'),
  url: texts.optional().describe('Addresses of pictures, which akin fetches'),
};

const SELECTION = {
  filter: texts
    .optional()
    .describe(
      'Filters that documents must match, all of them: brand:"Ada & Co", price:[20 TO 50], labels:(red OR blue), -stock:false. describe_collection lists the fields',
    ),
  limit: z.number().int().min(1).max(100).default(10).describe('Maximum number of documents'),
  fields: z
    .array(z.string())
    .optional()
    .describe('Fields to return. Default: all of the document. color_names and copyspace only if named'),
};

const THRESHOLD = z.number().min(0).max(1).optional();

const READS = { readOnlyHint: true, openWorldHint: false };

interface Selection {
  readonly filter?: string | string[] | undefined;
  readonly limit: number;
  readonly fields?: string[] | undefined;
}

/** Adds what an agent can do with the collection. What akin refuses is its answer to the agent. */
export function addTools(server: McpServer, collection: TypedCollection): void {
  server.registerTool(
    'describe_collection',
    {
      description: 'The number of documents, the fields with their types, and whether pictures can be found by words.',
      annotations: READS,
    },
    async () => {
      const [{ total }, { schema }, status] = await Promise.all([
        collection.search('*:*', { limit: 0 }),
        collection.schema(),
        statusIfAllowed(collection),
      ]);
      const shown = schema.fields.filter(({ name, origin }) => origin !== 'analysis' || name === 'color_names');
      const fields = shown.map(({ name, type, multiValued }) => [name, multiValued ? `${type}, several` : type]);
      return answer({ documents: total, words: status?.model?.words, fields: Object.fromEntries(fields) });
    },
  );

  server.registerTool(
    'find_similar',
    {
      description:
        'Finds the documents with the most similar pictures, best first, by one or more of id, file, url, color and text. score is 0 to 1; 1 is the same picture.',
      inputSchema: {
        ...PICTURES,
        color: texts.optional().describe('Colours as #rrggbb; alone, or with by: color'),
        text: texts.optional().describe('Words for what pictures show, if describe_collection says words: true'),
        by: z.enum(['content', 'color']).optional().describe('What is compared. Default: content'),
        threshold: THRESHOLD.describe('Minimum score'),
        ...SELECTION,
      },
      annotations: READS,
    },
    async ({ id, file, url, color, text, by, threshold, ...selection }) => {
      const options = defined<SimilarOptions>({ ...optionsOf(selection), by, threshold });
      return answer(await collection.similar(defined<RankInput>({ id, file, url, color, text }), options));
    },
  );

  server.registerTool(
    'find_copies',
    {
      description:
        'Finds copies of the same picture, also smaller, cropped or edited ones, by id, file or url. An id is not among its own copies.',
      inputSchema: {
        ...PICTURES,
        threshold: THRESHOLD.describe(
          'Minimum score. Default: 0.7; with 0.9 only sure copies, and not the same thing in another colour',
        ),
        ...SELECTION,
      },
      annotations: READS,
    },
    async ({ id, file, url, threshold = 0.7, ...selection }) => {
      const options: SimilarOptions = { ...optionsOf(selection), by: 'duplicate', threshold };
      return answer(await collection.similar(defined<RankInput>({ id, file, url }), options));
    },
  );

  server.registerTool(
    'search',
    {
      description: 'Finds documents by words in their fields, by filters, or both. total is the number of all matches.',
      inputSchema: {
        query: z.string().default('*:*').describe('Words or a query in the language of Solr. Default: all documents'),
        sort: z.string().optional().describe('For example: price asc'),
        facets: z.array(z.string()).optional().describe('Fields whose values are counted in all matches'),
        ...SELECTION,
      },
      annotations: READS,
    },
    async ({ query, sort, facets, ...selection }) =>
      answer(await collection.search(query, defined<SearchOptions>({ ...optionsOf(selection), sort, facets }))),
  );

  server.registerTool(
    'add_picture',
    {
      description:
        'Stores a document with its picture, from a file or an address, and replaces the document that has the id.',
      inputSchema: {
        id: z.string().describe('Id of the document'),
        picture: z.string().describe('Path of a picture on this machine, or its address'),
        fields: z.record(z.string(), z.unknown()).default({}).describe('Other fields, for example {"brand": "Ada"}'),
      },
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    async ({ id, picture, fields }) => {
      await collection.addPicture({ ...fields, id }, picture, { wait: true });
      return answer({ document: await collection.get(id) });
    },
  );
}

function optionsOf({ filter, limit, fields }: Selection): SearchOptions {
  return defined<SearchOptions>({ filter, limit, fields });
}

function defined<Options extends object>(members: { [Name in keyof Options]: Options[Name] | undefined }): Options {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Options;
}

/** A key with a filter may not ask for it. */
function statusIfAllowed(collection: TypedCollection): Promise<CollectionSummary | undefined> {
  return collection.status().catch((error: unknown) => {
    if (error instanceof KeyError) return undefined;
    throw error;
  });
}

/** Without the members of a search result that are empty. */
function answer(value: object): { content: { type: 'text'; text: string }[] } {
  return { content: [{ type: 'text', text: JSON.stringify(value, withoutEmpty) }] };
}

function withoutEmpty(name: string, value: unknown): unknown {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return isEmpty && ['groups', 'facets', 'warnings'].includes(name) ? undefined : value;
}
