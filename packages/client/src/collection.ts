import { CollectionAdministration } from './collection-administration.ts';
import { writeJson } from './json.ts';
import { documentsOf, pagesOf } from './pages.ts';
import { type Picture, resolvePicture } from './picture.ts';
import { rankingEndpoint, type SearchEndpoint } from './ranking-endpoint.ts';
import { type Parameters, queryString, request, requestText } from './request.ts';
import type { RequestOptions } from './search-options.ts';
import type {
  AnalyzeResponse,
  ExportParameters,
  FoundDocument,
  FoundGroup,
  GroupsParameters,
  GroupsResponse,
  NewDocument,
  PartPairsResponse,
  SearchParameters,
  SearchResponse,
  TagParameters,
  TagResponse,
  TermsParameters,
  TermsResponse,
  Tombstone,
  UpdateParameters,
  UpdateResponse,
} from './types.ts';

/** Parameters with more characters than this are sent as a form body, because proxies limit the length of a URL. */
const MAX_URL_LENGTH = 4_000;

/** Options of a request that can include pictures. */
interface PictureOptions extends RequestOptions {
  /** Pictures to rank by or to tag. They come after the pictures in the parameters. */
  readonly file?: Picture | readonly Picture[];
}

/**
 * One collection over HTTP. Every method throws {@link AkinRequestError} when akin rejects the request or does not
 * answer.
 */
export class Collection extends CollectionAdministration {
  /**
   * Exports a page of documents as lines of NDJSON, with everything needed to store them again. All pages are from the
   * same commit. The first line of the first page contains the types of the fields.
   *
   * @param cursor the cursor of the previous page
   */
  async exportPage(
    parameters: ExportParameters = {},
    cursor?: string,
    options: RequestOptions = {},
  ): Promise<{ lines: string; commit: number; cursor: string | undefined }> {
    const body = queryString({ ...parameters, cursor });
    const { text, headers } = await requestText(this.config, this.path('/export'), { ...options, body });
    return {
      lines: text,
      commit: Number(headers.get('x-akin-commit')),
      cursor: headers.get('x-akin-cursor') ?? undefined,
    };
  }

  /** Adds or replaces documents, all or none. */
  add(
    documents: readonly NewDocument[],
    parameters: UpdateParameters = {},
    options: RequestOptions = {},
  ): Promise<UpdateResponse> {
    return this.send(
      '/update',
      { ...parameters },
      { ...options, body: writeJson(documents), contentType: 'application/json', changes: true },
    );
  }

  /**
   * Adds or replaces one document with its picture. The picture is analyzed first; if it cannot be read, nothing is
   * stored. The document is visible after the next commit.
   */
  addPicture(
    document: NewDocument,
    picture: Blob,
    parameters: UpdateParameters = {},
    options: RequestOptions = {},
  ): Promise<UpdateResponse> {
    const body = new FormData();
    body.append('document', writeJson(document));
    body.append('file', picture, picture instanceof File ? picture.name : 'picture');
    return this.send('/update', { ...parameters }, { ...options, body, changes: true });
  }

  /**
   * Adds or replaces documents that are already JSON: the text of an array in UTF-8, all or none.
   *
   * @param options.lines the body has one document on each line (NDJSON), which is faster for akin to read
   * @param options.gzip the body is compressed
   */
  addJson(
    body: Uint8Array,
    parameters: UpdateParameters = {},
    { lines, gzip, ...options }: RequestOptions & { lines?: boolean; gzip?: boolean } = {},
  ): Promise<UpdateResponse> {
    const contentType = lines ? 'application/x-ndjson' : 'application/json';
    const encoding = gzip ? ({ contentEncoding: 'gzip' } as const) : {};
    return this.send('/update', { ...parameters }, { ...options, body, contentType, changes: true, ...encoding });
  }

  deleteByIds(
    ids: readonly string[],
    parameters: UpdateParameters = {},
    options: RequestOptions = {},
  ): Promise<UpdateResponse> {
    return this.#command({ delete: ids }, parameters, options);
  }

  /**
   * Leaves tombstones with the values of these documents, as if they had been stored and deleted: for files whose
   * documents were deleted on purpose, and which now have another path.
   */
  addTombstones(documents: readonly NewDocument[]): Promise<UpdateResponse> {
    return this.#command({ add: documents, delete: documents.map(({ id }) => id) }, {});
  }

  deleteByQuery(
    query: string,
    parameters: UpdateParameters = {},
    options: RequestOptions = {},
  ): Promise<UpdateResponse> {
    return this.#command({ delete: { query } }, parameters, options);
  }

  /** Returns documents by id, in the order of the ids. Ids without a document are omitted. */
  async getByIds(
    ids: readonly string[],
    parameters: { fl?: string; after?: string } = {},
    options: RequestOptions = {},
  ): Promise<FoundDocument[]> {
    const query: Parameters = { ...parameters, id: ids };
    const { doc, response } = await this.#search<{ doc?: FoundDocument | null; response?: { docs: FoundDocument[] } }>(
      '/get',
      query,
      options,
    );
    return response?.docs ?? (doc ? [doc] : []);
  }

  /** Lists values of fields with the number of documents for each. Parameters and response are those of `/terms`. */
  listTerms(parameters: TermsParameters, options: RequestOptions = {}): Promise<TermsResponse> {
    return this.#search('/terms', { ...parameters }, options);
  }

  /** Makes all processed changes visible to searches. */
  commit(parameters: UpdateParameters = {}): Promise<UpdateResponse> {
    return this.#command({ commit: {} }, parameters);
  }

  /**
   * Analyzes one picture and returns its outputs; stores nothing. `{ url }` and `{ data }` (base64) say what a text
   * means.
   */
  analyze(
    picture: Picture | { url: string } | { data: string },
    parameters: { 'modules.apply'?: string; 'input.region'?: string; thumbnail?: boolean } = {},
    options: RequestOptions = {},
  ): Promise<AnalyzeResponse> {
    if (isNamed(picture, 'data')) {
      const body = new URLSearchParams({ 'input.data': picture.data });
      return this.send('/analyze', { ...parameters, logParamsList: '' }, { ...options, body });
    }
    const file = isNamed(picture, 'url') ? picture.url : picture;
    return this.#search('/analyze', { ...parameters }, { ...options, file }, 'input.url');
  }

  /** Ranks by a module: a search at the module's endpoint, or at `/select` with `rank.mode` if there is none. */
  rank(mode: string, parameters: SearchParameters, options: PictureOptions = {}): Promise<SearchResponse> {
    const { endpoint, preset } = rankingEndpoint(mode);
    return this.#search(`/${endpoint}`, { ...preset, ...parameters }, options);
  }

  /** Searches without a preset. If `q` contains words, documents are ranked by text. */
  select(parameters: SearchParameters = {}, options: PictureOptions = {}): Promise<SearchResponse> {
    return this.#search('/select', parameters, options);
  }

  /** Finds pictures with similar content. */
  image(parameters: SearchParameters, options: PictureOptions = {}): Promise<SearchResponse> {
    return this.#search('/image', parameters, options);
  }

  color(parameters: SearchParameters, options: PictureOptions = {}): Promise<SearchResponse> {
    return this.#search('/color', parameters, options);
  }

  /** Finds copies of the same picture. The default threshold is 0.7. */
  duplicate(parameters: SearchParameters, options: PictureOptions = {}): Promise<SearchResponse> {
    return this.#search('/duplicate', parameters, options);
  }

  /** Finds pictures that contain the picture or a part of it, or are a part of it. */
  parts(parameters: SearchParameters, options: PictureOptions = {}): Promise<SearchResponse> {
    return this.#search('/parts', parameters, options);
  }

  /** Yields all documents that match, in the order of their ids. Keeps one page in memory. */
  all(parameters: SearchParameters = {}): AsyncGenerator<FoundDocument> {
    return documentsOf((cursorMark) => this.select({ rows: 1000, sort: 'id asc', ...parameters, cursorMark }));
  }

  /** Yields all files whose documents were deleted on purpose. Keeps one page in memory. */
  async *allTombstones(): AsyncGenerator<Tombstone> {
    const read = (cursor: string | undefined) =>
      this.send<{ tombstones: Tombstone[]; nextCursor?: string }>('/tombstones', { rows: 10_000, cursor });
    for await (const { tombstones } of pagesOf(read)) yield* tombstones;
  }

  /** URL of the thumbnail of a document, for `<img src>`. */
  thumbnailAddress(id: string): string {
    return `${this.config.baseUrl}${this.path('/thumbnail')}?${queryString({ id })}`;
  }

  /**
   * URL of the file from which a document was indexed, for `<img src>`. @param format converts types that browsers
   * cannot show
   */
  originalAddress(id: string, format?: 'webp'): string {
    return `${this.config.baseUrl}${this.path('/original')}?${queryString({ id, format })}`;
  }

  /** Suggests labels for a picture. The most similar documents vote for them. */
  tag(parameters: TagParameters, options: PictureOptions = {}): Promise<TagResponse> {
    return this.#search('/tag', { ...parameters }, options, 'tagging.input.url');
  }

  /** Returns a page of the groups of near-duplicates. */
  groups(parameters: GroupsParameters = {}, options: RequestOptions = {}): Promise<GroupsResponse> {
    return this.#search('/groups', { ...parameters }, options);
  }

  /** Returns a page of the pairs of pictures that have a part in common. Needs the module `parts`. */
  partPairs(
    parameters: Omit<GroupsParameters, 'group.id' | 'group.limit' | 'group.offset'> = {},
    options: RequestOptions = {},
  ): Promise<PartPairsResponse> {
    return this.#search('/groups', { ...parameters, kind: 'parts' }, options);
  }

  /** Yields all groups of near-duplicates that match. Keeps one page in memory. */
  async *allGroups(parameters: GroupsParameters = {}): AsyncGenerator<FoundGroup> {
    const read = (cursor: string | undefined) =>
      this.groups({ rows: 100, ...parameters, ...(cursor === undefined ? {} : { cursor }) });
    for await (const { groups } of pagesOf(read)) yield* groups;
  }

  /** Prevents that any two of these documents are in the same group; null removes this decision. */
  decideGroups(ids: readonly string[], decision: 'different' | null): Promise<unknown> {
    const body = JSON.stringify({ ids, decision });
    return this.send('/groups/decisions', {}, { body, contentType: 'application/json' });
  }

  /** Yields the pairs of documents that may not be in one group. Keeps one page in memory. */
  async *allGroupDecisions(): AsyncGenerator<readonly [string, string]> {
    const read = (cursor: string | undefined) => this.send<DecisionsPage>('/groups/decisions', { rows: 1_000, cursor });
    for await (const { decisions } of pagesOf(read)) for (const { ids } of decisions) yield ids;
  }

  /** URL of a search or of groups, to share or to use with `curl`. */
  searchAddress(endpoint: SearchEndpoint | 'groups', parameters: SearchParameters | GroupsParameters): string {
    // Commas and colons need no escape in a query string, and the URL is easier to read without.
    const query = String(queryString({ ...parameters }))
      .replaceAll('%2C', ',')
      .replaceAll('%3A', ':');
    return `${this.config.baseUrl}${this.path(`/${endpoint}`)}?${query}`;
  }

  /** Sends a search and returns its response as the text that akin wrote. */
  async searchText(endpoint: SearchEndpoint, parameters: SearchParameters): Promise<string> {
    const body = queryString({ ...parameters, indent: true, logParamsList: '' });
    return (await requestText(this.config, this.path(`/${endpoint}`), { body })).text;
  }

  /** @param address name of the parameter for pictures given as URLs */
  async #search<T>(
    endpoint: string,
    parameters: Parameters,
    { file, ...options }: PictureOptions,
    address = 'rank.by.url',
  ): Promise<T> {
    const query = queryString(parameters);
    if (file !== undefined) {
      const pictures = await Promise.all((Array.isArray(file) ? file : [file]).map(resolvePicture));
      const body = new FormData();
      for (const [name, value] of query) body.append(name, value);
      for (const picture of pictures) {
        if (typeof picture === 'string') body.append(address, picture);
        else body.append('file', picture);
      }
      return this.send(endpoint, {}, { ...options, body });
    }
    if (String(query).length <= MAX_URL_LENGTH) return this.send(endpoint, parameters, options);
    return this.send(endpoint, { logParamsList: '' }, { ...options, body: query });
  }

  #command(command: unknown, parameters: UpdateParameters, options: RequestOptions = {}): Promise<UpdateResponse> {
    const segment = this.config.legacySegment ?? 'solr';
    return request(
      this.config,
      `/${segment}/${encodeURIComponent(this.name)}/update?${queryString({ ...parameters })}`,
      { ...options, body: JSON.stringify(command), contentType: 'application/json', changes: true },
    );
  }
}

interface DecisionsPage {
  readonly decisions: readonly { readonly ids: [string, string] }[];
  readonly nextCursor?: string;
}

/** True if the picture is an object with this property, which no other kind of picture has. */
function isNamed<Name extends 'url' | 'data'>(
  picture: object | string,
  name: Name,
): picture is { [name in Name]: string } {
  return typeof picture === 'object' && name in picture && !(picture instanceof URL);
}
