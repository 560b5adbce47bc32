import type { Scope } from '@akin/domain';
import type { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * One thing that clients can ask for: its address, what it takes and what it answers. The gateway serves exactly these,
 * and the OpenAPI document is made from them, so neither can say what the other does not.
 */
export interface Endpoint {
  readonly methods: readonly Method[];
  /** What a key must be for, where keys are asked for; `anyone` needs none. */
  readonly scope: Scope | 'anyone';
  /**
   * Of an endpoint whose path names no collection: true when the answer leaves out the collections that a key is not
   * for. Else such keys are refused there.
   */
  readonly limited?: boolean;
  /**
   * `collections`: below `/api/cores` and, with the same meaning, below the legacy segment (`/solr`).
   * `legacy`: below the legacy segment alone, for what only old clients ask.
   * `service`: at the root.
   */
  readonly under: 'collections' | 'legacy' | 'service';
  /** Path below that, with names in braces: `/{collection}/select`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** By name on the wire, each made with `parameter.ts`. They may come in the address or in a form body alike. */
  readonly parameters: z.ZodObject;
  /** Bodies other than a form of parameters, by content type. */
  readonly bodies?: Readonly<Record<string, z.ZodType>>;
  /** Names whose values in a JSON body may be objects: the handler gets those as JSON texts, behind other parameters. */
  readonly structured?: readonly string[];
  /** True when the handler reads JSON bodies itself, as they come; else they are parameters too. */
  readonly streamed?: boolean;
  /** The JSON answer; or, for an endpoint that answers something else, its content type. */
  readonly answer: z.ZodType | string;
  /** HTTP status of a good answer, where it is not 200 alone. */
  readonly statuses?: Readonly<Record<number, string>>;
  /** True when a GET may change what is stored too: pages of other origins are refused then. */
  readonly changes?: boolean;
}

/** Keeps the exact types of an endpoint, so that its namesake in the gateway gets its parameters typed. */
export function endpoint<const E extends Endpoint>(definition: E): E {
  return definition;
}

/** What a handler gets after the parameters are read. */
export type ParametersOf<E extends Endpoint> = z.output<E['parameters']>;
