import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { addresses, ENDPOINTS, type Endpoint, type EndpointName } from '@akin/contract';
import { AkinError, badRequest, quote } from '@akin/domain';
import { unlessAborted } from '@akin/runtime';
import { KeyRing, listKeys } from '@akin/store/search';
import express, { type Express, type Request, type Response } from 'express';
import { type AccessConfig, Gate, requiresKeys } from './access/gate.ts';
import {
  checkHost,
  isLoopback,
  readCorsOrigins,
  readHostNames,
  resourcePolicy,
  type SafetyConfig,
} from './access/safety.ts';
import { BacklogQuota } from './admission/backlog-quota.ts';
import { DEFAULT_GATEWAY_LIMITS } from './admission/limits.ts';
import { limitOpenRequests } from './admission/open-requests.ts';
import { createMemoryBudget, createSemaphores } from './admission/semaphores.ts';
import * as handlers from './api/handlers.ts';
import { createBackground } from './background.ts';
import { Feeds } from './changes/feeds.ts';
import {
  type GatewayConfig,
  NO_MODELS,
  NO_ORIGINALS,
  type Parts,
  type ServerConfig,
  type WorkerServerConfig,
} from './config.ts';
import type { SharedContext } from './context.ts';
import { cors } from './http/cors.ts';
import { Drain } from './http/drain.ts';
import { checkHeaders, rejectMalformedRequest } from './http/malformed-request.ts';
import { beginRequest, countUnrouted, type Handler, type HandlerFor, serve, writeError } from './http/serve.ts';
import { traceRequest } from './http/trace-request.ts';
import { unknownAddress } from './http/unknown-address.ts';
import { webPage } from './http/web-page.ts';
import { resumeOrphanedReindexes } from './reindex/start-reindex.ts';
import { createDelayedCommits } from './update/delayed-commits.ts';

/** Disposing drains, lets open requests end for `limits.shutdownMilliseconds`, and closes. */
export interface Gateway extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /**
   * Starts the shutdown: `/health/ready` answers 503, and requests are still served for `shutdownDelayMilliseconds`;
   * each response closes its connection. Resolves when that time is over.
   */
  drain(): Promise<void>;
}

/** An endpoint without a handler does not compile. */
const HANDLERS: { readonly [Name in EndpointName]: HandlerFor<Name> } = handlers;

/** First segments of other paths. */
const TAKEN_SEGMENTS = ['api', 'health', 'docs', 'metrics', 'assets'];

/** Maximum length of URL and headers together, in bytes: long queries fit, longer ones must be sent as a form. */
const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Starts the HTTP server and resolves when it listens. Disposing it closes nothing from the config.
 *
 * @throws AkinError forbidden if keys are required and none exists; Error of the system if it cannot listen, for
 * example because the port is in use
 */
export async function createGateway(config: GatewayConfig): Promise<Gateway> {
  const delayedCommits = createDelayedCommits(config.commit, config.log);
  const { store, analyze, makeThumbnail, commit, wake } = config;
  const parts = {
    store,
    analyze,
    makeThumbnail,
    commit,
    wake,
    ready: () => store.ping(),
    httpReady: () => store.ping(),
    scheduleCommit: delayedCommits.add,
    retryRun: config.retryRun ?? (() => false),
    originals: config.originals ?? NO_ORIGINALS,
    models: config.models ?? NO_MODELS,
  };
  const gateway = await open(config, parts, Object.keys(ENDPOINTS) as EndpointName[], config.webFolder);
  return {
    ...gateway,
    async [Symbol.asyncDispose]() {
      await gateway.drain();
      delayedCommits.stop();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

/**
 * Starts the HTTP server of a process that is not a gateway: health, metrics, and `/analyze` if `analyze` is given.
 * Otherwise like `createGateway`.
 */
export async function createWorkerServer(config: WorkerServerConfig): Promise<Gateway> {
  const names: EndpointName[] = ['live', 'ready', 'metrics', ...(config.analyze ? (['analyze'] as const) : [])];
  // The endpoints of a worker do not use these parts.
  const absent = undefined as never;
  const parts = {
    store: absent,
    makeThumbnail: absent,
    commit: absent,
    wake: absent,
    scheduleCommit: absent,
    retryRun: absent,
    originals: absent,
    models: absent,
  };
  const { analyze = absent, ready, httpReady = ready } = config;
  return open(config, { ...parts, analyze, ready, httpReady }, names, config.fallback);
}

async function open(
  config: ServerConfig,
  parts: Parts & Pick<SharedContext, 'ready' | 'httpReady' | 'scheduleCommit'>,
  names: readonly EndpointName[],
  rest: string | (() => AkinError) | undefined,
): Promise<Gateway> {
  const host = config.host ?? '127.0.0.1';
  const safety: SafetyConfig = {
    loopback: isLoopback(host),
    keyed: requiresKeys(config),
    allowedHosts: readHostNames(config.allowedHosts ?? []),
    corsOrigins: readCorsOrigins(config.corsOrigins ?? []),
  };
  const keyRing = new KeyRing(parts.store);
  const ring = parts.store === undefined ? undefined : keyRing;
  const gate = new Gate(config.access ?? {}, safety, ring);
  if (safety.keyed) await requireKey(parts, config.access ?? {});
  const legacySegment = config.legacySegment ?? 'solr';
  if (!/^[A-Za-z0-9_-]+$/.test(legacySegment) || TAKEN_SEGMENTS.includes(legacySegment)) {
    throw badRequest(
      `The legacy segment ${quote(legacySegment)} cannot be the first part of a path: choose other letters, digits, - and _ (--legacy-segment).`,
    );
  }
  const limits = { ...DEFAULT_GATEWAY_LIMITS, ...config.limits };
  const drain = new Drain({
    delayMilliseconds: config.shutdownDelayMilliseconds ?? 0,
    openMilliseconds: limits.shutdownMilliseconds,
  });
  const unlessDraining = (ready: () => Promise<void>) => async () => {
    drain.requireNotDraining();
    await ready();
  };
  const background = createBackground(config.log);
  const feeds = new Feeds(parts.store);
  const context: SharedContext = {
    ...parts,
    ready: unlessDraining(parts.ready),
    httpReady: unlessDraining(parts.httpReady),
    drain,
    background: background.run,
    log: config.log,
    metrics: config.metrics,
    limits,
    memoryBudget: createMemoryBudget(limits.parameterMemoryBytes),
    semaphores: createSemaphores(limits),
    backlogQuota: new BacklogQuota(parts.store, limits),
    feeds,
    gate,
    keyRing,
    legacySegment,
    version: config.version ?? '0.0.0',
  };
  if (parts.store !== undefined) resumeOrphanedReindexes(context, limits.orphanedReindexesMilliseconds);
  const app = createApp(context, safety, names, rest);
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
      keepAliveTimeout: limits.keepAliveMilliseconds,
      // By default, Node checks for late headers only every 30 seconds.
      connectionsCheckingInterval: Math.ceil(limits.headerMilliseconds / 10),
    },
    app,
  );
  server.headersTimeout = limits.headerMilliseconds;
  // Uploads have no time limit while bytes arrive. Pauses are limited where bodies are read.
  server.requestTimeout = 0;
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => rejectMalformedRequest(error, socket));
  await listen(server, host, config.port ?? 0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    drain: () => drain.begin(),
    async [Symbol.asyncDispose]() {
      await drain.begin();
      feeds.stop();
      await drain.close(server);
      await background.stop();
    },
  };
}

/** The instructions for an operator if keys are required and none exists. */
export function keyInstructions({ firstKeyCommand = 'akin keys create --scope admin' }: AccessConfig): string {
  return `Create the first one:\n  ${firstKeyCommand}\nor allow access without a key (--allow-open-network).`;
}

/** @throws AkinError forbidden if keys are required and there is none */
async function requireKey({ store, analyze }: Parts, access: AccessConfig): Promise<void> {
  if (store === undefined) {
    if (analyze === undefined || access.fleetKey !== undefined) return;
    throw new AkinError(
      'forbidden',
      'An analyzer that other machines can reach needs a fleet key. Give this process and the gateways the same AKIN_FLEET_KEY, or allow access without a key (--allow-open-network).',
    );
  }
  if ((await listKeys(store)).length > 0) return;
  throw new AkinError(
    'forbidden',
    `akin requires a key from every client, and there is no key yet. ${keyInstructions(access)}`,
  );
}

/** @param rest the folder of the web page, or the response at all other paths */
function createApp(
  context: SharedContext,
  safety: SafetyConfig,
  names: readonly EndpointName[],
  rest: string | (() => AkinError) | undefined,
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  // Parameters are parsed in serve.ts, in order and by the rules of forms.
  app.set('query parser', () => ({}));
  app.use(beginRequest);
  app.use((_request, response, next) => {
    response.setHeader('cross-origin-resource-policy', resourcePolicy(safety));
    next();
  });
  app.use((request, response, next) => context.drain.track(request, response, next));
  app.use((_request, response, next) => {
    context.drain.lifetimeOf(response).limit(context.limits.answerMilliseconds);
    next();
  });
  app.use(traceRequest);
  app.use(limitOpenRequests(context.limits.openRequests, (request) => context.gate.addressOf(request)));
  app.use(async (request, response, next) => {
    checkHeaders(request);
    checkHost(request, safety);
    const { signal } = context.drain.lifetimeOf(response);
    if (!(await unlessAborted(cors(request, response, context.gate), signal))) next();
  });
  for (const [address, methods] of routes(names, context.legacySegment)) {
    app.all(address, (request, response, next) => {
      const route = methods.get(request.method === 'HEAD' ? 'GET' : request.method);
      if (request.method === 'OPTIONS') return allow(methods, response).status(204).end();
      if (!route) {
        allow(methods, response);
        throw new AkinError(
          'method-not-allowed',
          `${request.method} is not allowed at this path: use ${listed(methods)}.`,
        );
      }
      const handler = HANDLERS[route.name] as Handler<unknown>;
      return serve(route.endpoint, route.name, route.prefix, handler, context)(request, response, next);
    });
  }
  if (typeof rest === 'function') {
    app.use(() => {
      throw rest();
    });
  } else {
    app.use(webPage(rest));
  }
  app.use((request: Request) => {
    throw unknownAddress(request.path);
  });
  app.use((error: unknown, request: Request, response: Response, _next: unknown) => {
    // The router cannot decode the path: an error of the client.
    const broken = error instanceof URIError;
    const known = broken ? badRequest('The path contains a broken percent escape: encode the path as UTF-8.') : error;
    writeError(known, request, response, context);
    countUnrouted(response, context);
  });
  return app;
}

interface Route {
  readonly name: EndpointName;
  readonly endpoint: Endpoint;
  readonly prefix: 'cores' | 'legacy';
}

/** The handlers of each path, by method. */
function routes(names: readonly EndpointName[], legacySegment: string): Map<string, Map<string, Route>> {
  const table = new Map<string, Map<string, Route>>();
  for (const name of names) {
    const endpoint: Endpoint = ENDPOINTS[name];
    for (const [prefix, address] of addresses(endpoint, legacySegment)) {
      const path = address.replace(/\{([^}]+)\}/g, ':$1');
      const methods = table.get(path) ?? new Map<string, Route>();
      for (const method of endpoint.methods) methods.set(method, { name, endpoint, prefix });
      table.set(path, methods);
    }
  }
  return table;
}

function allow(methods: ReadonlyMap<string, Route>, response: Response): Response {
  return response.setHeader('allow', [...listed(methods).split(', '), 'OPTIONS'].join(', '));
}

function listed(methods: ReadonlyMap<string, Route>): string {
  return [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
