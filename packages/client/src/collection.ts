import { CollectionAdministration } from './collection-administration.ts';
import { type Picture, resolvePicture } from './picture.ts';
import { rankingEndpoint, type SearchEndpoint } from './ranking-endpoint.ts';
import { type Parameters, queryString, request, requestText } from './request.ts';
import type {
  AnalyzeAnswer,
  ExportParameters,
  FoundDocument,
  FoundGroup,
  GroupsAnswer,
  GroupsParameters,
  NewDocument,
  SearchAnswer,
  SearchParameters,
  TagAnswer,
  TagParameters,
  TermsAnswer,
  TermsParameters,
  Tombstone,
  UpdateAnswer,
  UpdateParameters,
} from './types.ts';

/** Past this many characters parameters go into a form body, so that no address gets too long for a proxy. */
const LONGEST_ADDRESS = 4_000;

/** Options of a request that may bring pictures. */
interface PictureOptions {
  /** Pictures to rank by or to tag, after those that parameters name. */
  readonly file?: Picture | readonly Picture[];
  readonly signal?: AbortSignal;
}

/** One collection over HTTP. Every method throws {@link AkinRequestError} when akin refuses or does not answer. */
export class Collection extends CollectionAdministration {
  /**
   * A page of documents as lines of NDJSON, with all that is needed to store them again. All pages are from one commit.
   * The first line of the first page has the types of the fields.
   *
   * @param cursor of the page before
   */
  async exportPage(
    parameters: ExportParameters = {},
    cursor?: string,
    options: { signal?: AbortSignal } = {},
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
    options: { signal?: AbortSignal } = {},
  ): Promise<UpdateAnswer> {
    return this.send(
      '/update',
      { ...parameters },
      { ...options, body: JSON.stringify(documents), contentType: 'application/json', changes: true },
    );
  }

  /**
   * Adds or replaces one document with its picture, which is analyzed first: nothing is stored with one that cannot be
   * read. Visible with the next commit.
   */
  addPicture(
    document: NewDocument,
    picture: Blob,
    parameters: UpdateParameters = {},
    options: { signal?: AbortSignal } = {},
  ): Promise<UpdateAnswer> {
    const body = new FormData();
    body.append('document', JSON.stringify(document));
    body.append('file', picture, 'picture');
    return this.send('/update', { ...parameters }, { ...options, body, changes: true });
  }

  /**
   * Adds or replaces documents that are JSON already: the text of an array in UTF-8, all or none.
   *
   * @param options.lines the body is one document a line (NDJSON), which akin reads with less work
   * @param options.gzip the body is compressed
   */
  addJson(
    body: Uint8Array<ArrayBuffer>,
    parameters: UpdateParameters = {},
    options: { lines?: boolean; gzip?: boolean; signal?: AbortSignal } = {},
  ): Promise<UpdateAnswer> {
    return this.send(
      '/update',
      { ...parameters },
      {
        body,
        contentType: options.lines ? 'application/x-ndjson' : 'application/json',
        changes: true,
        ...(options.gzip ? { contentEncoding: 'gzip' as const } : {}),
        ...(options.signal ? { signal: options.signal } : {}),
      },
    );
  }

  deleteByIds(
    ids: readonly string[],
    parameters: UpdateParameters = {},
    options: { signal?: AbortSignal } = {},
  ): Promise<UpdateAnswer> {
    return this.#command({ delete: ids }, parameters, options);
  }

  deleteByQuery(
    query: string,
    parameters: UpdateParameters = {},
    options: { signal?: AbortSignal } = {},
  ): Promise<UpdateAnswer> {
    return this.#command({ delete: { query } }, parameters, options);
  }

  /** Documents by id, in the order of the ids; those that are not there are left out. */
  async getByIds(
    ids: readonly string[],
    parameters: { fl?: string; after?: string } = {},
    options: { signal?: AbortSignal } = {},
  ): Promise<FoundDocument[]> {
    const query: Parameters = { ...parameters, id: ids };
    const { doc, response } = await this.#search<{ doc?: FoundDocument | null; response?: { docs: FoundDocument[] } }>(
      '/get',
      query,
      options,
    );
    return response?.docs ?? (doc ? [doc] : []);
  }

  /** Values of fields with how many documents have each, as `/terms` takes and gives them. */
  listTerms(parameters: TermsParameters, options: { signal?: AbortSignal } = {}): Promise<TermsAnswer> {
    return this.#search('/terms', { ...parameters }, options);
  }

  /** Makes all that is ready visible to searches. */
  commit(parameters: UpdateParameters = {}): Promise<UpdateAnswer> {
    return this.#command({ commit: {} }, parameters);
  }

  /** Outputs of one picture; nothing is stored. `{ url }` and `{ data }` (base64) name what a text is. */
  analyze(
    picture: Picture | { url: string } | { data: string },
    parameters: { 'modules.apply'?: string } = {},
    options: { signal?: AbortSignal } = {},
  ): Promise<AnalyzeAnswer> {
    if (isNamed(picture, 'data')) {
      const body = new URLSearchParams({ 'input.data': picture.data });
      return this.send('/analyze', { ...parameters, logParamsList: '' }, { ...options, body });
    }
    const file = isNamed(picture, 'url') ? picture.url : picture;
    return this.#search('/analyze', { ...parameters }, { ...options, file }, 'input.url');
  }

  /** Ranks by a module: a search at its endpoint, or at `/select` with `rank.mode` if it has none of its own. */
  rank(mode: string, parameters: SearchParameters, options: PictureOptions = {}): Promise<SearchAnswer> {
    const { endpoint, preset } = rankingEndpoint(mode);
    return this.#search(`/${endpoint}`, { ...preset, ...parameters }, options);
  }

  /** Search without a preset; ranks by text where `q` has words. */
  select(parameters: SearchParameters = {}, options: PictureOptions = {}): Promise<SearchAnswer> {
    return this.#search('/select', parameters, options);
  }

  /** Pictures with similar content. */
  image(parameters: SearchParameters, options: PictureOptions = {}): Promise<SearchAnswer> {
    return this.#search('/image', parameters, options);
  }

  color(parameters: SearchParameters, options: PictureOptions = {}): Promise<SearchAnswer> {
    return this.#search('/color', parameters, options);
  }

  /** Copies of the same picture: a threshold of 0.7 unless given. */
  duplicate(parameters: SearchParameters, options: PictureOptions = {}): Promise<SearchAnswer> {
    return this.#search('/duplicate', parameters, options);
  }

  /** All documents that match, page after page, in the order of their ids. Holds one page at a time. */
  async *all(parameters: SearchParameters = {}): AsyncGenerator<FoundDocument> {
    let cursorMark = '*';
    for (;;) {
      const page = await this.select({ rows: 1000, sort: 'id asc', ...parameters, cursorMark });
      yield* page.response.docs;
      if (!page.nextCursorMark || page.nextCursorMark === cursorMark) return;
      cursorMark = page.nextCursorMark;
    }
  }

  /** All files whose documents were deleted on purpose, page after page. Holds one page at a time. */
  async *allTombstones(): AsyncGenerator<Tombstone> {
    let cursor: string | undefined;
    do {
      const page: { tombstones: Tombstone[]; nextCursor?: string } = await this.send('/tombstones', {
        rows: 10_000,
        cursor,
      });
      yield* page.tombstones;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  /** Address of the small picture of a document, for `<img src>`. */
  thumbnailAddress(id: string): string {
    return `${this.config.baseUrl}${this.path('/thumbnail')}?${queryString({ id })}`;
  }

  /** Address of the file that a document was indexed from, for `<img src>`. @param format for types that browsers do not show */
  originalAddress(id: string, format?: 'webp'): string {
    return `${this.config.baseUrl}${this.path('/original')}?${queryString({ id, format })}`;
  }

  /** Labels for a picture, voted by the documents that look most like it. */
  tag(parameters: TagParameters, options: PictureOptions = {}): Promise<TagAnswer> {
    return this.#search('/tag', { ...parameters }, options, 'tagging.input.url');
  }

  /** A page of the groups of near-duplicates. */
  groups(parameters: GroupsParameters = {}, options: { signal?: AbortSignal } = {}): Promise<GroupsAnswer> {
    return this.#search('/groups', { ...parameters }, options);
  }

  /** All groups of near-duplicates that match, page after page. Holds one page at a time. */
  async *allGroups(parameters: GroupsParameters = {}): AsyncGenerator<FoundGroup> {
    let cursor: string | undefined;
    do {
      const page = await this.groups({ rows: 100, ...parameters, ...(cursor === undefined ? {} : { cursor }) });
      yield* page.groups;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  /** Keeps each two of some documents from being in one group, or, with null, no longer. */
  decideGroups(ids: readonly string[], decision: 'different' | null): Promise<unknown> {
    const body = JSON.stringify({ ids, decision });
    return this.send('/groups/decisions', {}, { body, contentType: 'application/json' });
  }

  /** Address of a search or of groups, to share or to paste after `curl`. */
  searchAddress(endpoint: SearchEndpoint | 'groups', parameters: SearchParameters | GroupsParameters): string {
    // Commas and colons need no escape in a query, and people read this.
    const query = String(queryString({ ...parameters }))
      .replaceAll('%2C', ',')
      .replaceAll('%3A', ':');
    return `${this.config.baseUrl}${this.path(`/${endpoint}`)}?${query}`;
  }

  /** @param address the parameter for pictures that are addresses */
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
    if (String(query).length <= LONGEST_ADDRESS) return this.send(endpoint, parameters, options);
    return this.send(endpoint, { logParamsList: '' }, { ...options, body: query });
  }

  #command(
    command: unknown,
    parameters: UpdateParameters,
    options: { signal?: AbortSignal } = {},
  ): Promise<UpdateAnswer> {
    const segment = this.config.legacySegment ?? 'solr';
    return request(
      this.config,
      `/${segment}/${encodeURIComponent(this.name)}/update?${queryString({ ...parameters })}`,
      { ...options, body: JSON.stringify(command), contentType: 'application/json', changes: true },
    );
  }
}

/** Whether a picture is given by this property: no other kind of picture has it. */
function isNamed<Name extends 'url' | 'data'>(
  picture: object | string,
  name: Name,
): picture is { [name in Name]: string } {
  return typeof picture === 'object' && name in picture && !(picture instanceof URL);
}
