import { Collection } from './collection.ts';
import { type Filter, field, filter } from './filter.ts';
import type { Plain } from './json.ts';
import { type Picture, resolvePicture } from './picture.ts';
import type { FieldName, Found, Matched, Ranked } from './stored.ts';
import type {
  FoundGroup,
  GroupsParameters,
  GroupsResponse,
  NewDocument,
  SearchParameters,
  SearchResponse,
  UpdateParameters,
  UpdateResponse,
} from './types.ts';

/** Filters that documents must match, all of them. */
export type Filters = string | Filter | readonly (string | Filter)[];

export interface RequestOptions {
  readonly signal?: AbortSignal;
}

/** What a search returns. Request parameters of the HTTP interface, such as `'rank.weights'`, may be added. */
export interface SearchOptions<Name extends string = string> extends RequestOptions {
  readonly filter?: Filters;
  /** Maximum number of documents, up to 1,000. Default: 10. */
  readonly limit?: number;
  /** Number of documents to skip. */
  readonly offset?: number;
  /** Names of the fields to return. Default: `*`, all but the outputs of the analysis. */
  readonly fields?: readonly Name[];
  /** For example `price asc, id asc`. */
  readonly sort?: string;
  /** Name of a field: only the best document for each of its values, such as one picture of each product. */
  readonly collapse?: string;
  /**
   * Name of a field: the best documents for each of its values, as `groups` of the result. `limit` counts groups, and so
   * does `total`.
   */
  readonly group?:
    | string
    | { readonly field: string /** Documents of a group. Default: 1. */; readonly limit?: number };
  /** Fields whose values are counted in all matching documents; values that none of them has are left out. */
  readonly facets?: readonly string[];
  /** Waits until the change with this token (`responseHeader.token`) is visible. */
  readonly after?: string;
  /** Further parameters of the HTTP interface. The other options win over them, and they over defaults. */
  readonly wire?: SearchParameters;
}

/**
 * What documents should look like. Several inputs are combined; `wire: { 'rank.weights': '1,-0.5' }` sets their
 * weights, in the order of the inputs here, files last.
 */
export interface RankInput {
  /** Ids of stored documents. */
  readonly id?: string | readonly string[];
  /** URLs of pictures, which akin downloads. */
  readonly url?: string | readonly string[];
  /** Pictures that are sent with the request: paths (in Node), Buffers, Blobs, Files or streams. */
  readonly file?: Picture | readonly Picture[];
  /** Colours, for example `#e03c31`. */
  readonly color?: string | readonly string[];
  /** Descriptions of pictures in words, for collections whose model supports words. */
  readonly text?: string | readonly string[];
  /** The `outputs` of `analyze`. */
  readonly outputs?: string;
  /**
   * The part of each picture that counts, in the order of `id`, `url` and `file` here, files last; undefined: all of it.
   */
  readonly region?: Region | readonly (Region | undefined)[];
}

/** A part of a picture in fractions of its upright sides: left, top, width and height. */
export type Region = readonly [x: number, y: number, width: number, height: number];

export interface SimilarOptions<Name extends string = string> extends SearchOptions<Name> {
  /**
   * The module whose descriptors are compared: `content`, `color`, `duplicate` for copies of one picture, `parts` for
   * pictures that have a part in common, or another module of the server. Default: `color` if only colours are given, otherwise `content`.
   */
  readonly by?: 'content' | 'color' | 'duplicate' | 'parts' | (string & {});
  /** Minimum score, 0 to 1. */
  readonly threshold?: number;
  /** Whether the results include the documents of `id`. Default: no. */
  readonly itself?: boolean;
}

export interface SearchResult<Document> {
  readonly documents: Document[];
  /** Number of all documents that match. */
  readonly total: number;
  /** False if `total` is only a lower bound. */
  readonly totalIsExact: boolean;
  /** With `group`: the groups, best first. `documents` has the documents of all of them. */
  readonly groups: readonly DocumentGroup<Document>[];
  /** For each field in `facets`: its values, most frequent first. */
  readonly facets: Readonly<Record<string, readonly FacetValue[]>>;
  readonly warnings: readonly string[];
}

/** Documents with the same value of a field. */
export interface DocumentGroup<Document> {
  /** Null for documents without a value. */
  readonly value: Plain;
  /** Number of all matching documents of the group. */
  readonly total: number;
  readonly documents: Document[];
}

export interface FacetValue {
  readonly value: string;
  readonly count: number;
}

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
    return super.add(list, { ...(wait ? { commit: true } : {}), ...parameters }, signal ? { signal } : {});
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
    const request = signal ? { signal } : {};
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
    const found = await this.getByIds(ids, parameters, signal ? { signal } : {});
    return typeof id === 'string' ? found[0] : found;
  }

  /** Deletes documents by id, or all documents that match a filter. */
  delete(
    which: string | readonly string[] | { readonly filter: string | Filter },
    { wait, signal, ...parameters }: AddOptions = {},
  ): Promise<UpdateResponse> {
    const options = { ...(wait ? { commit: true } : {}), ...parameters };
    const request = signal ? { signal } : {};
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
    return result(await this.select({ q: query, ...toSearchParameters(options, ranked) }, signalOf(options)));
  }

  /** Finds the documents with the most similar pictures, best first. */
  async similar<Name extends FieldName<Doc> = '*'>(
    to: RankInput,
    options: SimilarOptions<Name> = {},
  ): Promise<SearchResult<Ranked<Doc, Name>>> {
    const parameters: SearchParameters = toSearchParameters(options, true);
    const given = Object.entries(to).filter(([, value]) => value !== undefined);
    // In the order of the inputs, which is also the order of the weights; files come last.
    for (const [name, value] of given) {
      const parameter = INPUTS[name as keyof typeof INPUTS];
      if (parameter !== undefined) parameters[parameter] = listOf(value as string);
    }
    if (to.region !== undefined) parameters['rank.region'] = regionTexts(to.region);
    if (options.threshold !== undefined) parameters['rank.threshold'] = options.threshold;
    if (to.id !== undefined && !options.itself) {
      parameters.fq = [...listOf(parameters.fq ?? []), String(filter`-id:${listOf(to.id)}`)];
    }
    const onlyColors = given.every(([name]) => name === 'color' || name === 'region');
    const by = options.by ?? (onlyColors ? 'color' : 'content');
    const request = { ...signalOf(options), ...(to.file === undefined ? {} : { file: to.file }) };
    return result(await this.rank(by, parameters, request));
  }

  /** Counts the values of fields in all documents that match, most frequent first, without values that none has. */
  async facets<Field extends string>(
    fields: readonly Field[],
    { filter: filters, limit = 100, query, signal }: FacetOptions = {},
  ): Promise<Record<Field, FacetValue[]>> {
    const options = {
      limit: 0,
      facets: fields,
      ...(filters ? { filter: filters } : {}),
      ...(signal ? { signal } : {}),
    };
    const found = await this.search(query, { ...options, fields: [], wire: { 'facet.limit': limit } });
    return found.facets as Record<Field, FacetValue[]>;
  }

  /** Lists the values of one field with the number of documents for each; `prefix` is for suggestions. */
  async terms(
    field: string,
    { prefix, limit, signal }: { prefix?: string; limit?: number } & RequestOptions = {},
  ): Promise<FacetValue[]> {
    const parameters = { ...(prefix ? { 'terms.prefix': prefix } : {}), ...(limit ? { 'terms.limit': limit } : {}) };
    const { terms } = await this.listTerms({ 'terms.fl': field, ...parameters }, signal ? { signal } : {});
    return pairs(terms[field] ?? []);
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
    const { rows, ...parameters } = toSearchParameters({ ...options, limit: options.limit ?? PAGE });
    let cursorMark = '*';
    for (;;) {
      const page = await this.select(
        { sort: 'id asc', ...parameters, rows: rows ?? PAGE, cursorMark },
        signalOf({ signal }),
      );
      yield* page.response.docs as unknown as Found<Doc, Name>[];
      if (!page.nextCursorMark || page.nextCursorMark === cursorMark) return;
      cursorMark = page.nextCursorMark;
    }
  }

  /**
   * Yields all documents that match, with everything needed to store them again, as one line of JSON each, for `for
   * await`.
   */
  async *exportLines({ filter: filters, signal }: { filter?: Filters } & RequestOptions = {}): AsyncGenerator<string> {
    const parameters = filters ? { fq: listOf(filters).map(String) } : {};
    let cursor: string | undefined;
    do {
      const page = await this.exportPage(parameters, cursor, signal ? { signal } : {});
      for (const line of page.lines.split('\n')) if (line !== '') yield line;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
}

export interface GetOptions<Name extends string = string> extends RequestOptions {
  readonly fields?: readonly Name[];
  readonly after?: string;
}

export interface FacetOptions extends RequestOptions {
  readonly filter?: Filters;
  readonly query?: string;
  /** Maximum number of values of each field. Default: 100. */
  readonly limit?: number;
}

export interface GroupOptions {
  readonly filter?: Filters;
  readonly limit?: number;
}

const INPUTS = {
  id: 'rank.by.id',
  url: 'rank.by.url',
  color: 'rank.by.hex',
  text: 'rank.by.text',
  outputs: 'rank.by.outputs',
} as const;

function toSearchParameters(
  { filter: filters, limit, offset, fields, sort, facets, after, collapse, group, wire }: SearchOptions,
  ranked = false,
): SearchParameters {
  const fq = [
    ...(filters === undefined ? [] : listOf(filters).map(String)),
    ...(collapse === undefined ? [] : [`{!collapse field='${collapse.replace(/[\\']/g, '\\$&')}'}`]),
  ];
  const { field: groupField, limit: members = 1 } = typeof group === 'object' ? group : { field: group };
  return {
    fl: fieldList(undefined, ranked),
    ...(facets === undefined ? {} : { 'facet.mincount': 1 }),
    ...wire,
    ...(fields === undefined ? {} : { fl: fieldList(fields, ranked) }),
    ...(facets === undefined ? {} : { facet: true, 'facet.field': facets }),
    ...(fq.length === 0 ? {} : { fq }),
    ...(groupField === undefined
      ? {}
      : { group: true, 'group.field': groupField, 'group.limit': members, 'group.ngroups': true }),
    ...(limit === undefined ? {} : { rows: limit }),
    ...(offset === undefined ? {} : { start: offset }),
    ...(sort === undefined ? {} : { sort }),
    ...(after === undefined ? {} : { after }),
  };
}

function regionTexts(region: NonNullable<RankInput['region']>): string[] {
  const isOne = typeof region[0] === 'number';
  const regions = (isOne ? [region] : region) as readonly (Region | undefined)[];
  return regions.map((one) => one?.join() ?? '');
}

const signalOf = ({ signal }: { signal?: AbortSignal | undefined }): RequestOptions => (signal ? { signal } : {});

/** The `fl` for these names, always with the id: `*` is without the outputs of the analysis. */
function fieldList(fields: readonly string[] = ['*'], ranked = false): string {
  const names = fields.map((name) => (name === '*' ? '*,-outputs' : String(field(name))));
  return [...new Set(['id', ...(ranked ? ['score'] : []), ...names])].join(',');
}

const listOf = <T>(value: T | readonly T[]): T[] => (Array.isArray(value) ? [...value] : [value as T]);

function result<Document>({ response, grouped, responseHeader, facet_counts }: SearchResponse): SearchResult<Document> {
  const fields = Object.entries(facet_counts?.facet_fields ?? {});
  const [byField] = Object.values(grouped ?? {});
  const groups = (byField?.groups ?? []).map(({ groupValue, doclist }) => ({
    value: groupValue,
    total: doclist.numFound,
    documents: doclist.docs as unknown as Document[],
  }));
  return {
    documents: byField ? groups.flatMap(({ documents }) => documents) : (response.docs as unknown as Document[]),
    total: byField?.ngroups ?? response.numFound,
    totalIsExact: byField !== undefined || response.numFoundExact,
    groups,
    facets: Object.fromEntries(fields.map(([name, flat]) => [name, pairs(flat)])),
    warnings: responseHeader?.warnings ?? [],
  };
}

function pairs(flat: readonly (string | number | null)[]): FacetValue[] {
  const values: FacetValue[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    values.push({ value: String(flat[at] ?? ''), count: Number(flat[at + 1]) });
  }
  return values;
}
