import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '@akin/contract';
import { AkinError, badRequest, isTrash, quote, type Scope, scopeIncludes } from '@akin/domain';
import type { KeyFilter, KeyRing, SentKey } from '@akin/store/search';
import type { Response } from 'express';
import { type RateDecision, TokenBuckets } from '../admission/token-buckets.ts';
import { clientAddress } from './client-address.ts';
import { readCredential } from './credential.ts';
import { checkOrigin, isForeign, isLoopback, isOpenToNetwork, type SafetyConfig } from './safety.ts';

/** Settings of access control. */
export interface AccessConfig {
  /** Require keys on loopback, too. Beyond loopback they are always required, unless `allowOpenNetwork` is set. */
  readonly requireKeys?: boolean;
  /**
   * A secret that allows everything and is in no store: the processes of a fleet share it. At least 16 ASCII
   * characters, no blanks.
   */
  readonly fleetKey?: string;
  /** A secret that allows only `/metrics`, for monitoring of a whole fleet with one secret. */
  readonly metricsKey?: string;
  /** Serves metrics without a key. */
  readonly openMetrics?: boolean;
  /** Requests per second of each key without its own rate. Default: no limit. */
  readonly keyRate?: number;
  /**
   * Requests per second of each address. Default: {@link ADDRESS_RATE} for requests with the key of a web page, which
   * many people have, and for requests that are refused because they have no valid key; no limit for others.
   */
  readonly addressRate?: number;
  /** Number of proxies in front that add to `X-Forwarded-For`. Default 0. */
  readonly proxies?: number;
  /** The command that creates a first key, for the error that says there is none. */
  readonly firstKeyCommand?: string;
}

/** Whether a gateway with this configuration requires a key from everybody. */
export function requiresKeys(config: {
  readonly host?: string;
  readonly allowOpenNetwork?: boolean;
  readonly access?: AccessConfig;
}): boolean {
  const loopback = isLoopback(config.host ?? '127.0.0.1');
  return config.access?.requireKeys === true || (!loopback && config.allowOpenNetwork !== true);
}

/** What a request may do. */
export interface Access {
  readonly keyId?: string;
  readonly scope: Scope;
  /**
   * The client: a key, or an address if there is no key. The key of a web page, which many people have, is a separate
   * client at each address. Undefined for akin itself.
   */
  readonly client: string | undefined;
  /**
   * Call this before akin fetches a URL that the request names. A fetch counts as a change, because it may have effects
   * on the other server, and a key in a web page must not reach into networks.
   *
   * @throws AkinError forbidden
   */
  checkFetch(): void;
  allowsCollection(collection: string): boolean;
  /** The part of each collection that its key may see and change. Undefined: all. */
  readonly keyFilter: KeyFilter | undefined;
  /** Long responses check this from time to time. */
  isValid(): Promise<boolean>;
}

const ADDRESS_RATE = 20;
/** Characters that a header can contain unchanged. */
const FLEET_KEY = /^[\x21-\x7e]{16,}$/;
const KEYS_PATH = '/api/keys';
const CHALLENGE = 'Bearer realm="akin"';

/** Controls access: every request passes here before anything but its headers is read. */
export class Gate {
  readonly #config: AccessConfig;
  readonly #safety: SafetyConfig;
  readonly #ring: KeyRing | undefined;
  readonly #buckets = new TokenBuckets();

  /** @param ring absent if there is no store: then `fleetKey` is the only key */
  constructor(config: AccessConfig, safety: SafetyConfig, ring: KeyRing | undefined) {
    for (const secret of [config.fleetKey, config.metricsKey]) {
      if (secret === undefined || FLEET_KEY.test(secret)) continue;
      throw badRequest('A fleet key has at least 16 ASCII characters and no blanks.');
    }
    this.#config = config;
    this.#safety = safety;
    this.#ring = ring;
  }

  /**
   * Decides whether a request may do what it asks for.
   *
   * @param collection the collection in the path; undefined if there is none
   * @param response gets headers with the remaining rate
   * @throws AkinError unauthorized, forbidden, too-many-requests; unavailable if the keys cannot be read
   */
  async admit(
    request: IncomingMessage,
    response: Response,
    endpoint: Endpoint,
    name: string,
    collection: string | undefined,
  ): Promise<Access> {
    const changes = endpoint.changesData === true || !['GET', 'HEAD'].includes(request.method ?? '');
    if (endpoint.scope === 'anyone' || (name === 'metrics' && this.#config.openMetrics === true)) {
      checkOrigin(request, changes, this.#safety);
      return this.#unrestricted(request, this.addressOf(request));
    }
    const key = await this.#identify(request, response, name === 'metrics');
    await this.#checkOrigin(request, changes, key);
    if (key === 'fleet') return this.#unrestricted(request, undefined);
    if (key === undefined) {
      if (isOpenToNetwork(this.#safety) && endpoint.path.startsWith(KEYS_PATH)) throw adminRequiredError();
      const { addressRate } = this.#config;
      if (addressRate !== undefined) this.#limitRate(`address ${this.addressOf(request)}`, addressRate, response);
      return this.#unrestricted(request, this.addressOf(request));
    }
    this.#limitKeyRate(key, request, response);
    requireScope(key, endpoint.scope);
    requireCollection(key, collection, endpoint.filtersCollections === true);
    if (key.keyFilter !== undefined && endpoint.obeysKeyFilter !== true) throw filteredKeyError(key);
    this.#ring?.recordUse(key.id);
    return {
      keyId: key.id,
      scope: key.scope,
      client: key.origins.length === 0 ? `key ${key.id}` : `key ${key.id} ${this.addressOf(request)}`,
      checkFetch: () => {
        if (!scopeIncludes(key.scope, 'index')) throw fetchForbiddenError();
        this.#checkOriginOfChange(request, key.origins);
      },
      allowsCollection: (one) => coversCollection(key, one),
      keyFilter: key.keyFilter,
      isValid: async () => {
        const now = await this.#ring?.withId(key.id);
        if (now === undefined || isExpired(now) || isExpired(key)) return false;
        return collection === undefined || coversCollection({ ...key, collections: now.collections }, collection);
      },
    };
  }

  #unrestricted(request: IncomingMessage, client: string | undefined): Access {
    return {
      scope: 'admin',
      client,
      checkFetch: () => this.#checkOriginOfChange(request, []),
      allowsCollection: () => true,
      keyFilter: undefined,
      isValid: async () => true,
    };
  }

  /** @param origins whose pages may use the key of the request */
  #checkOriginOfChange(request: IncomingMessage, origins: readonly string[]): void {
    const { origin } = request.headers;
    if (origin === undefined || !origins.includes(origin)) checkOrigin(request, true, this.#safety);
  }

  /** Whether pages of an origin may send requests and read the responses. */
  async allowsOrigin(origin: string): Promise<boolean> {
    return !isForeign(origin, this.#safety) || (await this.#ring?.hasOrigin(origin)) === true;
  }

  /** Undefined if the request has no key and needs none. */
  async #identify(
    request: IncomingMessage,
    response: Response,
    forMetrics: boolean,
  ): Promise<SentKey | 'fleet' | undefined> {
    const sent = readCredential(request);
    if (sent !== undefined && isSameSecret(sent, this.#config.fleetKey)) return 'fleet';
    if (sent !== undefined && forMetrics && isSameSecret(sent, this.#config.metricsKey)) return 'fleet';
    const key = sent === undefined ? undefined : await this.#ring?.find(sent);
    if (key !== undefined && !isExpired(key)) return key;
    // If no key is required, old clients may send any user and password. Text in the form of a key is checked anyway.
    if (!this.#safety.keyed && !sent?.startsWith('akin_')) return undefined;
    const rate = this.#config.addressRate ?? ADDRESS_RATE;
    this.#limitRate(`refused ${this.addressOf(request)}`, rate, response);
    // A Basic challenge would make browsers ask for a user and password when pages call /api.
    const challenge = request.url?.startsWith('/api/') ? CHALLENGE : `${CHALLENGE}, Basic realm="akin"`;
    response.setHeader('www-authenticate', challenge);
    throw unauthorizedError(sent, key !== undefined);
  }

  async #checkOrigin(request: IncomingMessage, changes: boolean, key: SentKey | 'fleet' | undefined): Promise<void> {
    const { origin } = request.headers;
    const ofKey = key === undefined || key === 'fleet' ? [] : key.origins;
    if (origin !== undefined && ofKey.includes(origin)) return;
    checkOrigin(request, changes, this.#safety);
    if (origin === undefined || !isForeign(origin, this.#safety, request)) return;
    // A key that names this origin lets its pages read responses. Requests with another key, or none, are refused.
    if (ofKey.length > 0 || (await this.#ring?.hasOrigin(origin)) === true) {
      throw forbidden(`Pages of ${quote(origin)} need a key that names this origin (akin keys create --origins).`);
    }
  }

  #limitKeyRate(key: SentKey, request: IncomingMessage, response: Response): void {
    const rate = key.rate ?? this.#config.keyRate;
    if (rate !== undefined) this.#limitRate(`key ${key.id}`, rate, response);
    if (key.origins.length === 0) return;
    this.#limitRate(`${key.id} ${this.addressOf(request)}`, this.#config.addressRate ?? ADDRESS_RATE, response);
  }

  /** The address of the client, behind the known proxies. */
  addressOf(request: IncomingMessage): string {
    return clientAddress(request, this.#config.proxies ?? 0);
  }

  /** @throws AkinError too-many-requests */
  #limitRate(bucket: string, rate: number, response: Response): void {
    const taken = this.#buckets.take(bucket, rate);
    writeLimit(taken, response);
    if (taken.allowed) return;
    throw new AkinError(
      'too-many-requests',
      `This client sent more than ${rate} requests a second for too long: wait, then send the request again.`,
      {
        retryAfterSeconds: taken.retrySeconds,
      },
    );
  }
}

const forbidden = (message: string) => new AkinError('forbidden', message);

/** Of several limits, the one with the fewest requests left. */
function writeLimit({ limit, remaining, resetSeconds }: RateDecision, response: Response): void {
  const before = response.getHeader('ratelimit-remaining');
  if (before !== undefined && Number(before) < remaining) return;
  response.setHeader('ratelimit-limit', limit);
  response.setHeader('ratelimit-remaining', remaining);
  response.setHeader('ratelimit-reset', resetSeconds);
}

function isSameSecret(sent: string, own: string | undefined): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return own !== undefined && timingSafeEqual(hash(sent), hash(own));
}

function filteredKeyError({ id }: SentKey): AkinError {
  return forbidden(
    `The key ${id} has a filter, and this tells about documents that do not match it: use a key without a filter.`,
  );
}

function isExpired({ expiresAt }: Pick<SentKey, 'expiresAt'>): boolean {
  return expiresAt !== null && expiresAt.getTime() <= Date.now();
}

/** A key that may only search covers a trash, which holds what was deleted, only if it names it. */
function coversCollection({ scope, collections }: Pick<SentKey, 'scope' | 'collections'>, collection: string): boolean {
  return collections === null ? scope !== 'search' || !isTrash(collection) : collections.includes(collection);
}

function unauthorizedError(sent: string | undefined, hasExpired: boolean): AkinError {
  const advice = 'Send one as Authorization: Bearer <key>, or as the password of Basic.';
  if (sent === undefined) return new AkinError('unauthorized', `A key is needed. ${advice}`);
  if (hasExpired) return new AkinError('unauthorized', 'This key has expired: ask for a new one.');
  return new AkinError('unauthorized', `This key is unknown or was revoked. ${advice}`);
}

function fetchForbiddenError(): AkinError {
  return forbidden(
    'A key with the scope search may not make akin fetch a URL: send the picture itself as rank.by.data, or use a key with the scope index.',
  );
}

function adminRequiredError(): AkinError {
  return forbidden(
    'akin is open to clients without a key here, so only a key with the scope admin can create, list and revoke keys. Create the first one in the store: akin keys create --scope admin.',
  );
}

function requireScope(key: SentKey, needed: Scope): void {
  if (scopeIncludes(key.scope, needed)) return;
  throw forbidden(`This needs a key with the scope ${needed}; the key ${key.id} has the scope ${key.scope}.`);
}

function requireCollection(key: SentKey, collection: string | undefined, filters: boolean): void {
  const { id, collections } = key;
  if (collection === undefined ? collections === null || filters : coversCollection(key, collection)) return;
  if (collections === null) {
    throw forbidden(
      `${quote(collection ?? '')} holds what was deleted: a key with the scope search must name it (akin keys create --collections).`,
    );
  }
  const what = collection === undefined ? 'This' : `The collection ${quote(collection)}`;
  throw forbidden(`${what} is not for the key ${id}, which is only for ${listed(collections)}.`);
}

function listed(collections: readonly string[]): string {
  if (collections.length === 0) return 'deleted collections,';
  return collections.length > 5 ? `${collections.slice(0, 5).join(', ')} and others` : collections.join(', ');
}
