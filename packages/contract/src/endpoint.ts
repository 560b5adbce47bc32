import type { Scope } from '@akin/domain';
import type { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * An HTTP endpoint: its path, its parameters and its response. The gateway serves exactly these endpoints, and the
 * OpenAPI document is made from them, so the two cannot differ.
 */
export interface Endpoint {
  readonly methods: readonly Method[];
  /** The scope that a key needs, where keys are required. `anyone` needs no key. */
  readonly scope: Scope | 'anyone';
  /**
   * For an endpoint whose path names no collection. True: the response leaves out the collections that a key may not
   * use. Otherwise keys for single collections are refused.
   */
  readonly filtersCollections?: boolean;
  /**
   * True: it shows and changes only documents that match the filter of the key. Otherwise keys with a filter are
   * refused.
   */
  readonly obeysKeyFilter?: boolean;
  /**
   * `legacy`: below the legacy segment (`/solr`) only, for old clients. `service`: at the root. Absent: below
   * `/api/cores` and, with the same meaning, below the legacy segment.
   */
  readonly mount?: 'legacy' | 'service';
  /** The rest of the path, with names in braces: `/{collection}/select`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** By name on the wire, each made with `parameter.ts`. Clients send them in the address or in a form body. */
  readonly parameters: z.ZodObject;
  /** Bodies other than a form of parameters, by content type. */
  readonly bodies?: Readonly<Record<string, z.ZodType>>;
  /**
   * The name of the parameter that a picture sent as bytes stands for: each part `file` of a multipart body, or a body
   * that is a picture as a whole. Absent if the endpoint takes no pictures as bytes.
   */
  readonly pictureParameter?: string;
  /**
   * Names whose values in a JSON body may be objects. The handler gets them as JSON text, after the other parameters.
   */
  readonly jsonParameters?: readonly string[];
  /** True: the handler reads JSON bodies itself, as a stream. Otherwise they are parameters too. */
  readonly streamsBody?: boolean;
  /** The JSON response, or the content type of a response that is not JSON. */
  readonly response: z.ZodType | string;
  /** Further HTTP statuses of success besides 200, with their meaning. */
  readonly statuses?: Readonly<Record<number, string>>;
  /** True: a GET changes data too, as other methods do, so that pages of other origins may not send it. */
  readonly changesData?: boolean;
}

/** Keeps the exact types of an endpoint, so that its handler in the gateway gets typed parameters. */
export function endpoint<const E extends Endpoint>(definition: E): E {
  return definition;
}

/** The parsed parameters that a handler gets. */
export type ParametersOf<E extends Endpoint> = z.output<E['parameters']>;
