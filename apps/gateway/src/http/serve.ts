import { randomUUID } from 'node:crypto';
import type { Endpoint, EndpointName, Endpoints, ParametersOf } from '@akin/contract';
import { AkinError, stringifyJson } from '@akin/domain';
import { causeFields, type Reservation, unlessAborted } from '@akin/runtime';
import { findCollection, loadSchema } from '@akin/store/database';
import { withKeyFilter } from '@akin/store/search';
import type { NextFunction, Request, Response } from 'express';
import type { Access } from '../access/gate.ts';
import { PROCESS_PATHS } from '../admission/open-requests.ts';
import type { AnalyzeImage } from '../config.ts';
import type { Context, SharedContext } from '../context.ts';
import { HTML_HEADERS } from '../html/page.ts';
import { renderResponse } from '../html/response-page.ts';
import { isPayload, type ParameterList, readQueryString } from '../parameters/parameters.ts';
import { parseFlag } from '../parameters/parse-flag.ts';
import { readParameters } from '../parameters/read-parameters.ts';
import { refuseUnknown } from '../parameters/refuse-unknown.ts';
import { resolveNames } from '../parameters/resolve-names.ts';
import { explainUnknown, findUnknown } from '../parameters/unknown-parameters.ts';
import { checkWriter } from '../solr/check-writer.ts';
import { translateLegacyParameters } from '../solr/legacy-parameters.ts';
import { writeXml, XML_TYPE } from '../solr/write-xml.ts';
import { type Body, openBody } from './body.ts';
import { endResponse } from './end-response.ts';
import { errorMember, presentError } from './errors.ts';
import type { BytesResult, HandlerResult, JsonResult } from './handler-result.ts';
import { NO_FILES } from './pictures.ts';
import { checkLengths, expandJsonParameter, FORM_TYPE, readBodyParameters } from './read-request.ts';
import { loggableParameters, payloadSize } from './request-log.ts';
import { nameSpan } from './trace-request.ts';
import { writeStream } from './write-stream.ts';

/** One request as a handler gets it. */
export interface Call<Parameters> {
  readonly parameters: Parameters;
  /**
   * All parameters in their order, for handlers that depend on the order or on parameters that the endpoint does not
   * know.
   */
  readonly list: ParameterList;
  /** Unread only if the endpoint streams its bodies. */
  readonly body: Body;
  readonly prefix: 'cores' | 'legacy';
  readonly requestId: string;
  /** Counts the bytes that the request keeps in memory until it is answered. */
  readonly reservation: Reservation;
  readonly access: Access;
  /** Aborts when the client disconnects, when a deadline passes, and when the process no longer waits. */
  readonly signal: AbortSignal;
  readonly header: (name: string) => string | undefined;
}

export type Handler<Parameters> = (call: Call<Parameters>, context: Context) => Promise<HandlerResult> | HandlerResult;

/** The handler of an endpoint of the contract. */
export type HandlerFor<Name extends EndpointName> = Handler<ParametersOf<Endpoints[Name]>>;

/** The data of a request for its log line and its response. */
interface RequestLog {
  readonly requestId: string;
  readonly started: number;
  list: ParameterList;
  /** Whether the response is indented. Undefined until the parameters are read. */
  indent: boolean | undefined;
  /** Ignored parts of the request, as warnings. */
  warnings: readonly string[];
  keyId: string | undefined;
}

/**
 * After an early response the rest of the body is read and dropped for this time, so that the client sees the response.
 */
const DRAIN_MILLISECONDS = 5_000;

/** Creates the Express handler of one endpoint: read, handle, write, log. */
export function serve(
  endpoint: Endpoint,
  name: string,
  prefix: 'cores' | 'legacy',
  handler: Handler<unknown>,
  context: SharedContext,
): (request: Request, response: Response, next: NextFunction) => Promise<void> {
  return async (request, response) => {
    const requestLog = requestLogOf(response);
    const lifetime = context.drain.lifetimeOf(response);
    const { signal, over } = lifetime;
    nameSpan(request, response, name);
    let reservation: Reservation | undefined;
    const handle = async (): Promise<{ result: HandlerResult; access: Access }> => {
      const collection = request.params.collection as string | undefined;
      const access = await context.gate.admit(request, response, endpoint, name, collection);
      requestLog.keyId = access.keyId;
      reservation = context.memoryBudget.open(signal, access.client);
      const body = openBody(request, context.limits, lifetime);
      requestLog.list = queryOf(request.url, context.limits.parameters);
      const takesBody = request.method === 'POST' || request.method === 'PUT';
      let files = NO_FILES;
      if (takesBody && (!endpoint.streamsBody || body.type === FORM_TYPE)) {
        const read = await readBodyParameters(endpoint, body, requestLog.list, reservation, signal, context.limits);
        requestLog.list = [...requestLog.list, ...read.list];
        files = read.files;
      }
      const translated = translateLegacyParameters(
        resolveNames(endpoint, expandJsonParameter(endpoint, requestLog.list)),
      );
      requestLog.list = translated.list;
      refuseUnknown(endpoint, requestLog.list, Object.keys(request.params));
      const unknown = findUnknown(endpoint, requestLog.list);
      requestLog.warnings = [...translated.warnings, ...explainUnknown(unknown, endpoint)];
      checkLengths(requestLog.list, context.limits);
      const writer = requestLog.list.find(([name]) => name === 'wt')?.[1];
      checkWriter(writer);
      if (writer === 'xml') requestLog.list = requestLog.list.filter(([name]) => name !== 'json.nl');
      const parameters = readParameters(endpoint.parameters, requestLog.list, request.params as Record<string, string>);
      requestLog.indent = parameters.indent === true;
      const result = await handler(
        {
          parameters,
          list: requestLog.list,
          body: takesBody ? body : { ...body, mayHaveBody: false },
          prefix,
          requestId: requestLog.requestId,
          reservation,
          access,
          signal,
          header: (header) => request.get(header),
        },
        {
          ...context,
          client: access.client,
          files,
          store: access.keyFilter ? withKeyFilter(context.store, access.keyFilter) : context.store,
          analyze: withFetchCheck(context.analyze, access),
        },
      );
      // The collection exists, or the handler would have thrown. Without unknown parameters its fields are not read.
      if (unknown.size > 0 && collection !== undefined && Object.hasOwn(endpoint.parameters.shape, 'fq')) {
        const fields = await fieldsOf(collection, context);
        requestLog.warnings = [...translated.warnings, ...explainUnknown(unknown, endpoint, fields)];
      }
      return { result, access };
    };
    try {
      const { result, access } = await unlessAborted(handle(), over);
      if ('chunks' in result) {
        // What is sent piece by piece may take as long as its client reads.
        lifetime.limit(undefined);
        await unlessAborted(writeStream(result, request, response, access), over);
      } else write(result, request, response, requestLog, context);
    } catch (error) {
      writeError(error, request, response, context);
    } finally {
      reservation?.release();
    }
    logRequest(request, response, context, name, endpoint, requestLog);
  };
}

/** Prevents a fetch for a request that must not make akin fetch, wherever the URL is in the request. */
function withFetchCheck(analyze: AnalyzeImage, access: Access): AnalyzeImage {
  return async (input, modules, options) => {
    if ('url' in input) access.checkFetch();
    return analyze(input, modules, options);
  };
}

/** Undefined if the fields cannot be read, because a warning is not worth an error. */
async function fieldsOf(name: string, { store }: SharedContext): Promise<ReadonlyMap<string, unknown> | undefined> {
  try {
    return (await loadSchema(store, await findCollection(store, name))).fields;
  } catch {
    return undefined;
  }
}

/** Gives a request its id and its start time, before anything can go wrong. */
export function beginRequest(request: Request, response: Response, next: NextFunction): void {
  const sent = request.get('x-request-id') ?? '';
  const requestId = /^[\w.:-]{1,100}$/.test(sent) ? sent : randomUUID();
  const requestLog: RequestLog = {
    requestId,
    started: performance.now(),
    list: [],
    indent: undefined,
    warnings: [],
    keyId: undefined,
  };
  response.locals.requestLog = requestLog;
  response.setHeader('x-request-id', requestId);
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('referrer-policy', 'no-referrer');
  next();
}

function requestLogOf(response: Response): RequestLog {
  return response.locals.requestLog as RequestLog;
}

/** Counts a request without an endpoint: an unknown path, or one that was refused earlier. */
export function countUnrouted(response: Response, context: SharedContext): void {
  context.metrics.request('none', response.statusCode, performance.now() - requestLogOf(response).started);
}

export function writeError(error: unknown, request: Request, response: Response, context: SharedContext): void {
  const requestLog = requestLogOf(response);
  if (!(error instanceof AkinError) || error.code === 'internal') {
    context.log.error({ requestId: requestLog.requestId, err: error }, 'request failed');
  } else if (error.code === 'unavailable') {
    // Without a cause there is no error to log: for example, the time limit of the client is over.
    const err = error.cause === undefined ? {} : { err: error.cause };
    context.log.warn({ requestId: requestLog.requestId, ...causeFields(error), ...err }, error.message);
  }
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers, error: member } = presentError(error, requestLog.requestId, context.limits.listedDetails);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const list = requestLog.list.length > 0 ? requestLog.list : parametersOfUrl(request, context);
  writeObject({ status, body: { error: member } }, request, response, { ...requestLog, list });
}

/**
 * The parameters in the URL of a request that was refused before they were parsed: they decide the format of the
 * response.
 */
function parametersOfUrl({ url }: Request, { limits }: SharedContext): ParameterList {
  try {
    return queryOf(url, limits.parameters);
  } catch {
    return [];
  }
}

function queryOf(url: string, maxParameters: number): ParameterList {
  const query = url.indexOf('?');
  return query < 0 ? [] : readQueryString(url.slice(query + 1), maxParameters);
}

function write(
  result: JsonResult | BytesResult,
  request: Request,
  response: Response,
  requestLog: RequestLog,
  { limits }: SharedContext,
): void {
  if ('bytes' in result) {
    for (const [name, value] of Object.entries(result.headers ?? {})) response.setHeader(name, value);
    send(result.status ?? 200, result.type, result.bytes, request, response);
    return;
  }
  const { partial, status = 200 } = result;
  const error = partial && errorMember(status, partial.code, partial.message, partial.details, limits.listedDetails);
  writeObject({ ...result, body: { ...result.body, error } }, request, response, requestLog);
}

function writeObject(
  { status = 200, header, warnings = [], body, enveloped = true }: JsonResult,
  request: Request,
  response: Response,
  requestLog: RequestLog,
): void {
  const first = (name: string) => requestLog.list.find(([sent]) => sent === name)?.[1];
  const allWarnings = [...requestLog.warnings, ...warnings];
  const responseHeader = {
    status: status < 400 ? 0 : status,
    QTime: Math.round(performance.now() - requestLog.started),
    params: /^(explicit|all)$/i.test(first('echoParams') ?? '') ? echoed(requestLog.list) : undefined,
    ...header,
    warnings: allWarnings.length > 0 ? allWarnings : undefined,
  };
  const whole = enveloped && !parseFlag(first('omitHeader')) ? { responseHeader, ...body } : body;
  response.setHeader('cache-control', 'no-store');
  if (first('wt') === 'html') {
    for (const [name, value] of Object.entries(HTML_HEADERS)) response.setHeader(name, value);
    send(status, 'text/html; charset=utf-8', renderResponse(whole, request.path), request, response);
    return;
  }
  const indent = (requestLog.indent ?? parseFlag(first('indent'))) ? 2 : 0;
  if (first('wt') === 'xml') send(status, XML_TYPE, writeXml(whole, indent), request, response);
  else send(status, 'application/json; charset=utf-8', `${stringifyJson(whole, { indent })}\n`, request, response);
}

function send(status: number, type: string, content: Uint8Array | string, request: Request, response: Response): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  response.statusCode = status;
  if (status !== 304) {
    response.setHeader('content-type', type);
    response.setHeader('content-length', bytes.length);
  }
  const shown = request.method === 'HEAD' || status === 304 ? undefined : bytes;
  if (request.complete) endResponse(response, shown);
  else endAfterBody(shown, request, response);
}

/**
 * The response is sent before the body is read, but the connection stays open until the rest has arrived, or for a
 * while: many clients send everything before they read, and would never see the response otherwise.
 */
function endAfterBody(bytes: Uint8Array | undefined, request: Request, response: Response): void {
  response.setHeader('connection', 'close');
  if (bytes === undefined) response.flushHeaders();
  else response.write(bytes);
  const end = () => {
    clearTimeout(timer);
    endResponse(response);
  };
  const timer = setTimeout(end, DRAIN_MILLISECONDS).unref();
  request.unpipe();
  // An earlier reader left a listener, which would stop the stream from flowing.
  request.removeAllListeners('readable');
  request.on('error', () => {});
  request.once('end', end).once('close', end);
  request.on('data', () => {});
  request.resume();
}

function echoed(list: ParameterList): Record<string, unknown> {
  const params = new Map<string, string[]>();
  for (const [name, value] of list) {
    params.set(name, [...(params.get(name) ?? []), isPayload(name) ? payloadSize(value) : value]);
  }
  return Object.fromEntries([...params].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

function logRequest(
  request: Request,
  response: Response,
  context: SharedContext,
  name: string,
  endpoint: Endpoint,
  requestLog: RequestLog,
): void {
  const milliseconds = performance.now() - requestLog.started;
  context.metrics.request(name, response.statusCode, milliseconds);
  // Health checks come every few seconds: log them only if the process is not healthy.
  if (PROCESS_PATHS.test(request.path) && response.statusCode < 400) return;
  const parameters = loggableParameters(endpoint.parameters, requestLog.list);
  context.log.info(
    {
      requestId: requestLog.requestId,
      method: request.method,
      endpoint: name,
      ...(requestLog.keyId === undefined ? {} : { key: requestLog.keyId }),
      ...(request.params.collection === undefined ? {} : { collection: request.params.collection }),
      ...(parameters === undefined ? {} : { parameters }),
      status: response.statusCode,
      milliseconds: Math.round(milliseconds),
    },
    'request',
  );
}
