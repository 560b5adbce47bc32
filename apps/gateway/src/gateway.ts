import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ENDPOINTS, type Endpoint, type EndpointName } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { listKeys } from '@akin/store';
import express, { type Express, type Request, type Response } from 'express';
import { type AccessConfig, asksForKeys, Gate } from './access/gate.ts';
import { KeyRing } from './access/key-ring.ts';
import { HANDLERS } from './api/handlers.ts';
import { createBackground } from './background.ts';
import { Feeds } from './changes/feeds.ts';
import type { DoorConfig, GatewayConfig } from './config.ts';
import type { Context } from './context.ts';
import { refuseBrokenRequest } from './http/broken-request.ts';
import { cors } from './http/cors.ts';
import { begin, countUnserved, type Handler, serve, writeError } from './http/frame.ts';
import { HeldBytes } from './http/held-bytes.ts';
import { nothingAt } from './http/nothing-at.ts';
import { limitOpen } from './http/open-requests.ts';
import { checkHost, isLoopback, type SafetyConfig } from './http/safety.ts';
import { traceRequest } from './http/trace-request.ts';
import { Turnstile } from './http/turnstile.ts';
import { webPage } from './http/web-page.ts';
import { DEFAULT_GATEWAY_LIMITS } from './limits.ts';
import { createLaterCommits } from './update/later-commits.ts';
import { Room } from './update/room.ts';

export interface Gateway extends AsyncDisposable {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  readonly port: number;
}

/** First parts of other addresses. */
const TAKEN_SEGMENTS = ['api', 'health', 'docs', 'metrics', 'assets'];

/** Longest address and headers together, in bytes: long queries fit, longer ones go into a form. */
const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Starts the HTTP door and resolves when it listens. Disposing stops taking requests, lets open ones end for
 * `limits.shutdownMilliseconds`, and closes; it closes nothing that the config brought.
 *
 * @throws AkinError forbidden when everybody would need a key and there is none; Error of the system when it cannot
 * listen, as on a port that is taken
 */
export async function createGateway(config: GatewayConfig): Promise<Gateway> {
  const laterCommits = createLaterCommits(config.commit, config.log);
  const { store, analyze, makeThumbnail, commit, wake } = config;
  const parts = {
    ...{ store, analyze, makeThumbnail, commit, wake },
    ready: () => store.ping(),
    commitLater: laterCommits.add,
  };
  const gateway = await open(config, parts, Object.keys(ENDPOINTS) as EndpointName[]);
  return {
    ...gateway,
    async [Symbol.asyncDispose]() {
      laterCommits.stop();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

/**
 * Starts a door for a process without a store: it tells whether the process lives and is ready, its figures, and
 * analyzes pictures if it was given how. Else as `createGateway`.
 */
export async function createDoor(config: DoorConfig): Promise<Gateway> {
  const names: EndpointName[] = ['live', 'ready', 'metrics', ...(config.analyze ? (['analyze'] as const) : [])];
  // What these endpoints do not ask for.
  const absent = undefined as never;
  const parts = { store: absent, makeThumbnail: absent, commit: absent, wake: absent, commitLater: absent };
  return open(config, { ...parts, analyze: config.analyze ?? absent, ready: config.ready }, names, config.otherwise);
}

type Parts = Pick<Context, 'store' | 'analyze' | 'makeThumbnail' | 'commit' | 'wake' | 'ready' | 'commitLater'>;

async function open(
  config: Omit<GatewayConfig, keyof Parts>,
  parts: Parts,
  names: readonly EndpointName[],
  otherwise?: () => AkinError,
): Promise<Gateway> {
  const host = config.host ?? '127.0.0.1';
  const safety: SafetyConfig = {
    loopback: isLoopback(host),
    allowedHosts: (config.allowedHosts ?? []).map((name) => name.toLowerCase()),
    corsOrigins: config.corsOrigins ?? [],
  };
  const keyRing = new KeyRing(parts.store);
  const ring = parts.store === undefined ? undefined : keyRing;
  const closed = asksForKeys(config);
  const gate = new Gate(config.access ?? {}, safety, closed, ring);
  if (closed) await requireKey(parts, config.access ?? {});
  const legacySegment = config.legacySegment ?? 'solr';
  if (!/^[A-Za-z0-9_-]+$/.test(legacySegment) || TAKEN_SEGMENTS.includes(legacySegment)) {
    throw new Error(`The legacy segment ${JSON.stringify(legacySegment)} cannot be the first part of an address.`);
  }
  const limits = { ...DEFAULT_GATEWAY_LIMITS, ...config.limits };
  const background = createBackground(config.log);
  const feeds = new Feeds(parts.store);
  const context: Context = {
    ...parts,
    background: background.run,
    log: config.log,
    metrics: config.metrics,
    limits,
    heldBytes: new HeldBytes(limits.parameterBytesHeld),
    turnstiles: {
      searches: new Turnstile('searches', limits.searches),
      bulkUpdates: new Turnstile('large updates', limits.bulkUpdates),
      sentPictures: new Turnstile('pictures', limits.sentPictures),
      fetchedPictures: new Turnstile('pictures', limits.fetchedPictures),
    },
    room: new Room(parts.store, limits),
    feeds,
    gate,
    keyRing,
    legacySegment,
    version: config.version ?? '0.0.0',
  };
  const app = createApp(context, safety, names, otherwise ?? config.webFolder);
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
      keepAliveTimeout: limits.keepAliveMilliseconds,
      // Node looks for late headers only so often, by default every 30 seconds.
      connectionsCheckingInterval: Math.ceil(limits.headerMilliseconds / 10),
    },
    app,
  );
  server.headersTimeout = limits.headerMilliseconds;
  // Uploads take as long as they flow; pauses are limited where bodies are read.
  server.requestTimeout = 0;
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => refuseBrokenRequest(error, socket));
  await listen(server, host, config.port ?? 0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    async [Symbol.asyncDispose]() {
      feeds.stop();
      await close(server, limits.shutdownMilliseconds);
      await background.stop();
    },
  };
}

/** What to do where keys are asked for and there is none. */
export function howToMakeAKey({ firstKeyCommand = 'akin keys create --scope admin' }: AccessConfig): string {
  return `Make the first one:\n  ${firstKeyCommand}\nor let everybody in who can connect (--allow-open-network).`;
}

/** @throws AkinError forbidden where nobody could ask for anything that keys are for */
async function requireKey({ store, analyze }: Parts, access: AccessConfig): Promise<void> {
  if (store === undefined) {
    if (analyze === undefined || access.ownKey !== undefined) return;
    throw new AkinError(
      'forbidden',
      'Beyond this machine akin analyzes only for whoever has the fleet key: give this process and the gateways the same AKIN_FLEET_KEY, or let everybody in who can connect (--allow-open-network).',
    );
  }
  if ((await listKeys(store)).length > 0) return;
  throw new AkinError('forbidden', `akin would ask everybody for a key, and there is none. ${howToMakeAKey(access)}`);
}

/** @param rest the folder of the web page, or what all other addresses answer */
function createApp(
  context: Context,
  safety: SafetyConfig,
  names: readonly EndpointName[],
  rest: string | (() => AkinError) | undefined,
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  // Parameters are read by the frame, in order and by the rules of forms.
  app.set('query parser', () => ({}));
  app.use(begin);
  app.use(traceRequest);
  app.use(limitOpen(context.limits.openRequests));
  app.use(async (request, response, next) => {
    checkHost(request, safety);
    if (!(await cors(request, response, context.gate))) next();
  });
  for (const [address, methods] of routes(names, context.legacySegment)) {
    app.all(address, (request, response, next) => {
      const route = methods.get(request.method === 'HEAD' ? 'GET' : request.method);
      if (request.method === 'OPTIONS') return allow(methods, response).status(204).end();
      if (!route) {
        allow(methods, response);
        throw new AkinError('method-not-allowed', `${request.method} is not for this address: use ${listed(methods)}.`);
      }
      const handler = HANDLERS[route.name] as Handler<unknown>;
      return serve(route.endpoint, route.name, route.door, handler, context)(request, response, next);
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
    throw nothingAt(request.path);
  });
  app.use((error: unknown, request: Request, response: Response, _next: unknown) => {
    // The router cannot decode the path: the client's mistake, not ours.
    const broken = error instanceof URIError;
    const known = broken ? new AkinError('bad-request', 'The path holds a broken percent escape.') : error;
    writeError(known, request, response, context);
    countUnserved(response, context);
  });
  return app;
}

interface Route {
  readonly name: EndpointName;
  readonly endpoint: Endpoint;
  readonly door: 'cores' | 'legacy';
}

/** What answers at each address, by method. */
function routes(names: readonly EndpointName[], legacySegment: string): Map<string, Map<string, Route>> {
  const table = new Map<string, Map<string, Route>>();
  const add = (address: string, route: Route) => {
    const path = address.replace(/\{([^}]+)\}/g, ':$1');
    const methods = table.get(path) ?? new Map<string, Route>();
    for (const method of route.endpoint.methods) methods.set(method, route);
    table.set(path, methods);
  };
  for (const name of names) {
    const endpoint: Endpoint = ENDPOINTS[name];
    if (endpoint.under === 'service') {
      add(endpoint.path, { name, endpoint, door: 'cores' });
    } else if (endpoint.under === 'legacy') {
      add(`/${legacySegment}${endpoint.path}`, { name, endpoint, door: 'legacy' });
    } else {
      add(`/api/cores${endpoint.path}`, { name, endpoint, door: 'cores' });
      add(`/${legacySegment}${endpoint.path}`, { name, endpoint, door: 'legacy' });
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

async function close(server: Server, milliseconds: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), milliseconds);
  await closed;
  clearTimeout(timer);
}
