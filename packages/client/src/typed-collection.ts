import { Collection } from './collection.ts';
import type { Filter } from './filter.ts';
import { documentsOf } from './pages.ts';
import { type Picture, resolvePicture } from './picture.ts';
import {
  type Filters,
  fieldList,
  listOf,
  type RankInput,
  type RequestOptions,
  type SearchOptions,
  type SimilarOptions,
  toRankParameters,
  toSearchParameters,
  withOptionNames,
} from './search-options.ts';
import { type FacetValue, type SearchResult, toFacetValues, toSearchResult } from './search-result.ts';
import type { FieldName, Found, Matched, Ranked } from './stored.ts';
import type {
  FoundGroup,
  GroupsParameters,
  GroupsResponse,
  NewDocument,
  Stats,
  UpdateParameters,
  UpdateResponse,
} from './types.ts';

export interface AddOptions extends UpdateParameters, RequestOptions {
  /**
   * With `true`, the promise resolves when searches find the documents. Otherwise searches find them within 15 seconds.
   */
  readonly wait?: boolean;
}

const PAGE = 1_000;

/**
 * A collection whose documents have the same type. These methods have options with plain names; the methods of {@link
 * Collection} have the parameters of the HTTP interface. Every method throws a subclass of `AkinRequestError`.
 */
export class TypedCollection<Doc extends object = Record<string, unknown>> extends Collection {
  /** Adds or replaces documents, all or none. Fields get their type from their first value. */
  override add(
    documents: (Doc & { id: string }) | readonly (Doc & { id: string })[] | readonly NewDocument[],
    { wait, signal, ...parameters }: AddOptions = {},
  ): Promise<UpdateResponse> {
    const list = (Array.isArray(documents) ? documents : [documents]) as readonly NewDocument[];
    return super.add(list, { ...(wait ? { commit: true } : {}), ...parameters }, signalOf({ signal }));
  }

  /**
   * Adds or replaces one document with its picture, which is analyzed first: if it cannot be read, nothing is stored.
   * A picture that is a URL becomes the document's `image`, which akin fetches.
   */
  override async addPicture(
    document: Doc & { id: string },
    picture: Picture,
    { wait, signal, ...parameters }: AddOptions = {},
  ): Promise<UpdateResponse> {
    const options = { ...(wait ? { commit: true } : {}), ...parameters };
    const resolved = await resolvePicture(picture);
    const request = signalOf({ signal });
    if (typeof resolved === 'string') return super.add([{ ...document, image: resolved }], options, request);
    return super.addPicture(document as unknown as NewDocument, resolved, options, request);
  }

  /** Returns a document by its id, as of the last commit, or undefined. With several ids: the documents that exist. */
  get<Name extends FieldName<Doc> = '*'>(id: string, options?: GetOptions<Name>): Promise<Found<Doc, Name> | undefined>;
  get<Name extends FieldName<Doc> = '*'>(
    ids: readonly string[],
    options?: GetOptions<Name>,
  ): Promise<Found<Doc, Name>[]>;
  async get(id: string | readonly string[], { fields, after, signal }: GetOptions = {}): Promise<unknown> {
    const ids = typeof id === 'string' ? [id] : id;
    if (ids.length === 0) return [];
    const parameters = { fl: fieldList(fields), ...(after ? { after } : {}) };
    const found = await this.getByIds(ids, parameters, signalOf({ signal }));
    return typeof id === 'string' ? found[0] : found;
  }

  /** Deletes documents by id, or all documents that match a filter. */
  delete(
    which: string | readonly string[] | { readonly filter: string | Filter },
    { wait, signal, ...parameters }: AddOptions = {},
  ): Promise<UpdateResponse> {
    const options = { ...(wait ? { commit: true } : {}), ...parameters };
    const request = signalOf({ signal });
    if (typeof which === 'string') return this.deleteByIds([which], options, request);
    // Not by `filter`, which lists have, too: it is one of their methods.
    if ('length' in which) return this.deleteByIds(which, options, request);
    return this.deleteByQuery(String(which.filter ?? ''), options, request);
  }

  /** Finds documents by a query in akin's language. Default: all documents. */
  async search<Name extends FieldName<Doc> = '*'>(
    query = '*:*',
    options: SearchOptions<Name> = {},
  ): Promise<SearchResult<Matched<Doc, Name>>> {
    const ranked = query !== '*:*' && options.sort === undefined;
    const parameters = { q: query, ...toSearchParameters(options, ranked) };
    return toSearchResult(await withOptionNames(this.select(parameters, signalOf(options))));
  }

  /** Finds the documents with the most similar pictures, best first. */
  async similar<Name extends FieldName<Doc> = '*'>(
    to: RankInput,
    options: SimilarOptions<Name> = {},
  ): Promise<SearchResult<Ranked<Doc, Name>>> {
    const { by, parameters } = toRankParameters(to, options);
    const request = { ...signalOf(options), ...(to.file === undefined ? {} : { file: to.file }) };
    return toSearchResult(await withOptionNames(this.rank(by, parameters, request)));
  }

  /** Counts the values of fields in all documents that match, most frequent first, without values that none has. */
  async facets<Field extends string>(
    fields: readonly Field[],
    { limit = 100, ...which }: FacetOptions = {},
  ): Promise<Record<Field, FacetValue[]>> {
    const { facets } = await this.#figures(which, { facets: fields, wire: { 'facet.limit': limit } });
    return facets as Record<Field, FacetValue[]>;
  }

  /** Computes the least, the highest and other figures of fields, in all documents that match. */
  async stats<Field extends string>(fields: readonly Field[], which: StatsOptions = {}): Promise<Record<Field, Stats>> {
    const { stats } = await this.#figures(which, { wire: { stats: true, 'stats.field': fields } });
    return stats as Record<Field, Stats>;
  }

  #figures({ query, ...which }: StatsOptions, what: SearchOptions<never>): Promise<SearchResult<unknown>> {
    return this.search(query, { ...which, ...what, limit: 0, fields: [] });
  }

  /** Lists the values of one field with the number of documents for each; `prefix` is for suggestions. */
  async terms(
    field: string,
    { prefix, limit, signal }: { prefix?: string; limit?: number } & RequestOptions = {},
  ): Promise<FacetValue[]> {
    const parameters = { ...(prefix ? { 'terms.prefix': prefix } : {}), ...(limit ? { 'terms.limit': limit } : {}) };
    const { terms } = await this.listTerms({ 'terms.fl': field, ...parameters }, signalOf({ signal }));
    return toFacetValues(terms[field] ?? []);
  }

  /** Returns a page of the groups of near-duplicates; {@link allGroups} returns all of them. */
  override groups(
    { filter: filters, limit, ...parameters }: GroupsParameters & GroupOptions = {},
    options: RequestOptions = {},
  ): Promise<GroupsResponse> {
    return super.groups(
      {
        ...parameters,
        ...(filters ? { fq: listOf(filters).map(String) } : {}),
        ...(limit === undefined ? {} : { rows: limit }),
      },
      options,
    );
  }

  override allGroups(parameters: GroupsParameters & GroupOptions = {}): AsyncGenerator<FoundGroup> {
    return super.allGroups(parameters);
  }

  /**
   * Yields all documents that match, in the order of their ids, for `for await`. Keeps one page in memory.
   *
   * @param options `limit` is the number of documents of a page, not of all documents
   */
  async *documents<Name extends FieldName<Doc> = '*'>({
    signal,
    ...options
  }: SearchOptions<Name> = {}): AsyncGenerator<Found<Doc, Name>> {
    const parameters = { sort: 'id asc', ...toSearchParameters({ limit: PAGE, ...options }) };
    const documents = documentsOf((cursorMark) =>
      withOptionNames(this.select({ ...parameters, cursorMark }, signalOf({ signal }))),
    );
    yield* documents as unknown as AsyncGenerator<Found<Doc, Name>>;
  }

  /**
   * Yields all documents that match, with everything needed to store them again, as one line of JSON each, for `for
   * await`.
   */
  async *exportLines({ filter: filters, signal }: { filter?: Filters } & RequestOptions = {}): AsyncGenerator<string> {
    const parameters = filters ? { fq: listOf(filters).map(String) } : {};
    let cursor: string | undefined;
    do {
      const page = await this.exportPage(parameters, cursor, signalOf({ signal }));
      for (const line of page.lines.split('\n')) if (line !== '') yield line;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
}

export interface GetOptions<Name extends string = string> extends RequestOptions {
  readonly fields?: readonly Name[];
  readonly after?: string;
}

export interface StatsOptions extends RequestOptions {
  readonly filter?: Filters;
  readonly query?: string;
}

export interface FacetOptions extends StatsOptions {
  /** Maximum number of values of each field. Default: 100. */
  readonly limit?: number;
}

export interface GroupOptions {
  readonly filter?: Filters;
  readonly limit?: number;
}

const signalOf = ({ signal }: { signal?: AbortSignal | undefined }): RequestOptions => (signal ? { signal } : {});
