import { randomUUID } from 'node:crypto';
import type { Endpoint } from '@akin/contract';
import { AkinError, stringifyJson } from '@akin/domain';
import type { NextFunction, Request, Response } from 'express';
import type { Access } from '../access/gate.ts';
import type { AnalyzeImage } from '../config.ts';
import type { Context } from '../context.ts';
import { renderAnswer } from '../html/answer-page.ts';
import { HTML_HEADERS } from '../html/page.ts';
import type { Answer, BytesAnswer, JsonAnswer, StreamAnswer } from './answer.ts';
import { type Body, openBody } from './body.ts';
import { errorMember, HTTP_STATUS, presentError } from './errors.ts';
import { isPayload, loggableParameters } from './loggable.ts';
import { translateOldSpellings } from './old-spellings.ts';
import { OF_THE_PROCESS } from './open-requests.ts';
import { type ParameterList, readQueryString } from './parameters.ts';
import { readParameters } from './read-parameters.ts';
import { checkLengths, expandJsonParameter, FORM_TYPE, readBodyParameters } from './read-request.ts';
import { nameSpan } from './trace-request.ts';
import { writeStream } from './write-stream.ts';
import { checkWriter } from './writer.ts';
import { writeXml, XML_TYPE } from './xml-answer.ts';

/** One request as a handler gets it. */
export interface Call<Parameters> {
  readonly parameters: Parameters;
  /** All parameters as they came, for what depends on their order and for those that the endpoint does not know. */
  readonly list: ParameterList;
  /** Unread only where the endpoint streams its bodies. */
  readonly body: Body;
  /** Which prefix it came through. */
  readonly door: 'cores' | 'legacy';
  readonly requestId: string;
  /** What it may do beside what its endpoint is for. */
  readonly access: Access;
  /** Ends when the client goes away. */
  readonly signal: AbortSignal;
  readonly header: (name: string) => string | undefined;
}

export type Handler<Parameters> = (call: Call<Parameters>, context: Context) => Promise<Answer> | Answer;

/** What the frame learns on the way and the log line tells at the end. */
interface Story {
  readonly requestId: string;
  readonly started: number;
  list: ParameterList;
  /** Whether the answer is laid out over lines; undefined until the parameters are read. */
  indent: boolean | undefined;
  /** What is ignored of the request. */
  warnings: readonly string[];
  /** Of the key that it came with. */
  keyId: string | undefined;
}

/** After an early answer the rest of a body is read and dropped so long, so that the client gets to see the answer. */
const DRAIN_MILLISECONDS = 5_000;

/** Makes an Express handler of one endpoint: read, handle, write, log. */
export function serve(
  endpoint: Endpoint,
  name: string,
  door: 'cores' | 'legacy',
  handler: Handler<unknown>,
  context: Context,
): (request: Request, response: Response, next: NextFunction) => Promise<void> {
  return async (request, response) => {
    const story = storyOf(response);
    nameSpan(request, response, name);
    const hold = context.heldBytes.open();
    try {
      const collection = request.params.collection as string | undefined;
      const access = await context.gate.admit(request, response, endpoint, name, collection);
      story.keyId = access.keyId;
      const body = openBody(request, context.limits);
      const query = request.url.indexOf('?');
      story.list = query < 0 ? [] : readQueryString(request.url.slice(query + 1), context.limits.parameters);
      const takesBody = request.method === 'POST' || request.method === 'PUT';
      if (takesBody && (!endpoint.streamed || body.type === FORM_TYPE)) {
        story.list = [...story.list, ...(await readBodyParameters(endpoint, body, hold, context.limits))];
      }
      const translated = translateOldSpellings(expandJsonParameter(endpoint, story.list));
      story.list = translated.list;
      story.warnings = translated.warnings;
      checkLengths(story.list, context.limits);
      const writer = story.list.find(([name]) => name === 'wt')?.[1];
      checkWriter(writer);
      if (writer === 'xml') story.list = story.list.filter(([name]) => name !== 'json.nl');
      const parameters = readParameters(endpoint.parameters, story.list, request.params as Record<string, string>);
      story.indent = parameters.indent === true;
      const answer = await handler(
        {
          parameters,
          list: story.list,
          body: takesBody ? body : { ...body, sent: false },
          door,
          requestId: story.requestId,
          access,
          signal: goneSignal(response),
          header: (header) => request.get(header),
        },
        access.mayFetch ? context : { ...context, analyze: fetchingNothing(context.analyze) },
      );
      if ('events' in answer) await writeStream(answer, request, response, access);
      else write(answer, request, response, story, context);
    } catch (error) {
      writeError(error, request, response, context);
    } finally {
      hold.release();
    }
    logRequest(request, response, context, name, endpoint, story);
  };
}

/** For whoever must not make akin fetch what an address names: neither pictures nor what else answers there. */
function fetchingNothing(analyze: AnalyzeImage): AnalyzeImage {
  return async (input, modules, options) => {
    if ('bytes' in input) return analyze(input, modules, options);
    throw new AkinError(
      'forbidden',
      'A key with the scope search does not let akin fetch an address: send the picture itself, as rank.by.data, or use a key with the scope index.',
    );
  };
}

/** Gives a request its id and its start, before anything can go wrong. */
export function begin(request: Request, response: Response, next: NextFunction): void {
  const sent = request.get('x-request-id') ?? '';
  const requestId = /^[\w.:-]{1,100}$/.test(sent) ? sent : randomUUID();
  const story: Story = {
    requestId,
    started: performance.now(),
    list: [],
    indent: undefined,
    warnings: [],
    keyId: undefined,
  };
  response.locals.story = story;
  response.setHeader('x-request-id', requestId);
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('referrer-policy', 'no-referrer');
  next();
}

function storyOf(response: Response): Story {
  return response.locals.story as Story;
}

/** Counts a request that came to no endpoint: one for an address that there is not, or that was turned away before. */
export function countUnserved(response: Response, context: Context): void {
  context.metrics.request('none', response.statusCode, performance.now() - storyOf(response).started);
}

/** Writes any error in the shape that all errors have. */
export function writeError(error: unknown, request: Request, response: Response, context: Context): void {
  const story = storyOf(response);
  if (!(error instanceof AkinError) || error.code === 'internal') {
    context.log.error({ requestId: story.requestId, err: error }, 'request failed');
  } else if (error.code === 'unavailable') {
    // Without a cause there is nothing to find: the client waited as long as it wanted to.
    const err = error.cause === undefined ? {} : { err: error.cause };
    context.log.warn({ requestId: story.requestId, ...err }, error.message);
  }
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers, error: member } = presentError(error, story.requestId, context.limits.listedDetails);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  writeObject(status, {}, { error: member }, true, request, response, story);
}

function write(
  answer: Exclude<Answer, StreamAnswer>,
  request: Request,
  response: Response,
  story: Story,
  context: Context,
): void {
  if ('bytes' in answer) {
    writeBytes(answer, request, response);
    return;
  }
  const { partial } = answer;
  if (partial) {
    const status = answer.status ?? HTTP_STATUS[partial.code];
    const error = errorMember(status, partial.code, partial.message, partial.details, context.limits.listedDetails);
    writeObject(status, answer.header, { ...answer.body, error }, true, request, response, story);
    return;
  }
  writeObject(answer.status ?? 200, answer.header, answer.body, answer.enveloped ?? true, request, response, story);
}

function writeObject(
  status: number,
  header: JsonAnswer['header'],
  body: JsonAnswer['body'],
  enveloped: boolean,
  request: Request,
  response: Response,
  story: Story,
): void {
  const first = (name: string) => story.list.find(([sent]) => sent === name)?.[1];
  const responseHeader = {
    status: status < 400 ? 0 : status,
    QTime: Math.round(performance.now() - story.started),
    ...(isTrue(first('echoParams'), ['explicit', 'all']) ? { params: echoed(story.list) } : {}),
    ...header,
    ...(story.warnings.length > 0
      ? { warnings: [...story.warnings, ...((header?.warnings ?? []) as readonly string[])] }
      : {}),
  };
  const whole = enveloped && !isTrue(first('omitHeader')) ? { responseHeader, ...body } : body;
  response.setHeader('cache-control', 'no-store');
  if (first('wt') === 'html') {
    for (const [name, value] of Object.entries(HTML_HEADERS)) response.setHeader(name, value);
    send(status, 'text/html; charset=utf-8', renderAnswer(whole, request.path), request, response);
    return;
  }
  const indent = (story.indent ?? isTrue(first('indent'))) ? 2 : 0;
  if (first('wt') === 'xml') send(status, XML_TYPE, writeXml(whole, indent), request, response);
  else send(status, 'application/json; charset=utf-8', `${stringifyJson(whole, { indent })}\n`, request, response);
}

function writeBytes(answer: BytesAnswer, request: Request, response: Response): void {
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  send(answer.status ?? 200, answer.type, answer.bytes, request, response);
}

function send(status: number, type: string, content: Uint8Array | string, request: Request, response: Response): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  response.statusCode = status;
  if (status !== 304) {
    response.setHeader('content-type', type);
    response.setHeader('content-length', bytes.length);
  }
  const shown = request.method === 'HEAD' || status === 304 ? undefined : bytes;
  if (request.complete) response.end(shown);
  else endBehindRest(shown, request, response);
}

/**
 * The answer comes before the body is read. It goes out at once, but the connection is kept until the rest has come, or
 * for a while: many clients send all before they look, and never see the answer when they cannot.
 */
function endBehindRest(bytes: Uint8Array | undefined, request: Request, response: Response): void {
  response.setHeader('connection', 'close');
  if (bytes === undefined) response.flushHeaders();
  else response.write(bytes);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, DRAIN_MILLISECONDS).unref();
  request.unpipe();
  // Whoever was reading left a listener behind, under which a stream does not flow.
  request.removeAllListeners('readable');
  request.on('error', () => {});
  request.once('end', end).once('close', end);
  request.on('data', () => {});
  request.resume();
}

function goneSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) controller.abort(new AkinError('bad-request', 'The client went away.'));
  });
  return controller.signal;
}

function isTrue(value: string | undefined, words: readonly string[] = ['true', '1', 'on', 'yes']): boolean {
  return value !== undefined && words.includes(value.toLowerCase());
}

function echoed(list: ParameterList): Record<string, unknown> {
  const params = new Map<string, string[]>();
  for (const [name, value] of list) {
    params.set(name, [...(params.get(name) ?? []), isPayload(name) ? `(${value.length} characters)` : value]);
  }
  return Object.fromEntries([...params].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

function logRequest(
  request: Request,
  response: Response,
  context: Context,
  name: string,
  endpoint: Endpoint,
  story: Story,
): void {
  const milliseconds = performance.now() - story.started;
  context.metrics.request(name, response.statusCode, milliseconds);
  // Whoever watches over a process asks every few seconds: it is news only when the process is not well.
  if (OF_THE_PROCESS.test(request.path) && response.statusCode < 400) return;
  const parameters = loggableParameters(endpoint.parameters, story.list);
  context.log.info(
    {
      requestId: story.requestId,
      method: request.method,
      endpoint: name,
      ...(story.keyId === undefined ? {} : { key: story.keyId }),
      ...(request.params.collection === undefined ? {} : { collection: request.params.collection }),
      ...(parameters === undefined ? {} : { parameters }),
      status: response.statusCode,
      milliseconds: Math.round(milliseconds),
    },
    'request',
  );
}
