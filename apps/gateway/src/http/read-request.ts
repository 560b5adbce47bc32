import type { Endpoint } from '@akin/contract';
import {
  AkinError,
  badRequest,
  JsonNumber,
  JsonObject,
  type JsonValue,
  parseJson,
  quote,
  stringifyJson,
  withErrorContext,
} from '@akin/domain';
import type { Reservation } from '@akin/runtime';
import type { GatewayLimits } from '../admission/limits.ts';
import { FormReader, isPayload, type ParameterList } from '../parameters/parameters.ts';
import { isStrict, twiceError } from '../parameters/refuse-unknown.ts';
import type { Body } from './body.ts';
import { type BodyParameters, mayHavePictures, NO_FILES, readPictures, readReserved } from './pictures.ts';

export const FORM_TYPE = 'application/x-www-form-urlencoded';
/** One JSON value per line. */
export const LINES_TYPES: readonly string[] = ['application/x-ndjson', 'application/jsonl'];
const JSON_TYPES = ['application/json', 'text/json'];

/** Names of Solr's JSON requests and the parameters that they mean. */
const JSON_NAMES: Readonly<Record<string, string>> = {
  query: 'q',
  filter: 'fq',
  limit: 'rows',
  offset: 'start',
  fields: 'fl',
};

export function isJsonType(type: string): boolean {
  return JSON_TYPES.includes(type) || /^application\/[^;]+\+json$/.test(type);
}

export function isXmlType(type: string): boolean {
  return type === 'text/xml' || /^application\/([^;]+\+)?xml$/.test(type);
}

/**
 * Parameters of a body: a form, a flat JSON object if the endpoint accepts one, or pictures if it accepts some.
 *
 * @param reservation counts its bytes, which stay in memory until the request is answered
 * @throws AkinError unsupported-media-type, bad-request, too-large, too-many-requests
 */
export async function readBodyParameters(
  endpoint: Endpoint,
  body: Body,
  inUrl: ParameterList,
  reservation: Reservation,
  signal: AbortSignal,
  limits: GatewayLimits,
): Promise<BodyParameters> {
  if (endpoint.pictureParameter !== undefined && mayHavePictures(body.type)) {
    return readPictures(endpoint, body, inUrl, reservation, signal, limits);
  }
  return { list: await readTexts(endpoint, body, reservation, limits), files: NO_FILES };
}

async function readTexts(
  endpoint: Endpoint,
  body: Body,
  reservation: Reservation,
  limits: GatewayLimits,
): Promise<ParameterList> {
  if (!body.mayHaveBody) return [];
  if (body.type === FORM_TYPE) return requireNoJson(await readForm(endpoint, body, reservation, limits));
  if (endpoint.bodies && isJsonType(body.type)) return readJsonParameters(endpoint, body, reservation, limits);
  const pictures = endpoint.pictureParameter === undefined ? '' : ', multipart/form-data or a picture (image/*)';
  throw unsupportedBody(body, `${endpoint.bodies ? 'application/json or a form' : 'a form'}${pictures}`);
}

export function unsupportedBody(body: Body, wanted: string): AkinError {
  const what =
    body.type === '' ? 'A body without Content-Type is not read' : `A body of ${quote(body.type)} is not read here`;
  return new AkinError('unsupported-media-type', `${what}: send ${wanted}.`);
}

/** @throws AkinError bad-request for a parameter that is far too long */
export function checkLengths(list: ParameterList, limits: GatewayLimits): void {
  for (const [name, value] of list) {
    if (value.length > limits.parameterLength && !isPayload(name)) {
      const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name;
      throw badRequest(`Parameter ${shown} is longer than ${limits.parameterLength} characters.`);
    }
  }
}

/** The first bytes of JPEG, PNG, GIF, WebP, AVIF, HEIC and TIFF, as Latin-1. No form begins so. */
const PICTURE = /^(\xff\xd8\xff|\x89PNG\r|GIF8[79]a|RIFF.{4}WEBP|.{4}ftyp|II[*+]\0|MM\0[*+])/s;

async function readForm(
  endpoint: Endpoint,
  body: Body,
  reservation: Reservation,
  limits: GatewayLimits,
): Promise<ParameterList> {
  const reader = new FormReader(limits.parameters);
  let isFirst = endpoint.pictureParameter !== undefined;
  for await (const chunk of readReserved(body, limits.parameterBytes, reservation, limits)) {
    if (isFirst && PICTURE.test(Buffer.from(chunk.subarray(0, 16)).toString('latin1'))) {
      throw new AkinError(
        'unsupported-media-type',
        'The body came as a form but is a picture: send it with Content-Type: image/jpeg, or with curl as -F file=@<file>.',
      );
    }
    isFirst = false;
    reader.write(chunk);
  }
  return reader.end();
}

/** `curl -d` labels every body as a form. Say what to do instead of using the JSON as the name of a parameter. */
function requireNoJson(list: ParameterList): ParameterList {
  const first = list[0]?.[0].trimStart() ?? '';
  if (!/^[[{<]/.test(first)) return list;
  const type = first.startsWith('<') ? 'application/xml' : 'application/json';
  throw new AkinError(
    'unsupported-media-type',
    `The body came as a form but does not look like one: send it with Content-Type: ${type}.`,
  );
}

async function readJsonParameters(
  endpoint: Endpoint,
  body: Body,
  reservation: Reservation,
  limits: GatewayLimits,
): Promise<ParameterList> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readReserved(body, limits.parameterBytes, reservation, limits)) chunks.push(chunk);
  return ofJson(endpoint, decodeUtf8(Buffer.concat(chunks)), 'A JSON body of parameters');
}

/**
 * Replaces the parameter `json`, which may contain the same as a JSON body, by the parameters in it. These follow the
 * others, as those of a body do. At endpoints other than searches it stays, and is refused.
 */
export function expandJsonParameter(endpoint: Endpoint, list: ParameterList): ParameterList {
  if (!endpoint.bodies || endpoint.streamsBody || !list.some(([name]) => name === 'json')) return list;
  const others = list.filter(([name]) => name !== 'json');
  const inner = list.filter(([name]) => name === 'json');
  return [...others, ...inner.flatMap(([, text]) => withErrorContext('json', () => ofJson(endpoint, text, 'It')))];
}

function ofJson(endpoint: Endpoint, text: string, subject: string): ParameterList {
  if (text.trim() === '') return [];
  const value = parseJson(text);
  if (!(value instanceof JsonObject)) {
    throw badRequest(`${subject} must be an object of names and values.`);
  }
  return flatten(value, endpoint);
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw badRequest('The body is not UTF-8.', { cause });
  }
}

function flatten(object: JsonObject, endpoint: Endpoint): ParameterList {
  const structured = endpoint.jsonParameters ?? [];
  const { shape } = endpoint.parameters;
  const list: [string, string][] = [];
  const seen = new Set<string>();
  for (const [name, value] of object.entries) {
    // Commands in Solr's form may be repeated.
    if (isStrict(endpoint) && seen.has(name) && !structured.includes(name)) throw twiceError(name);
    seen.add(name);
    if (name === 'params' && value instanceof JsonObject) {
      list.push(...(flatten(value, endpoint) as [string, string][]));
      continue;
    }
    if (name === 'params' && value !== null) {
      throw badRequest('Parameter params must be an object of names and values.');
    }
    const meant = Object.hasOwn(JSON_NAMES, name) ? (JSON_NAMES[name] as string) : name;
    const known = Object.hasOwn(shape, meant) ? meant : name;
    // It is refused by its name, whatever its value is, unless it is another spelling of a known one.
    const isUnknown = !Object.hasOwn(shape, known) && !structured.includes(name);
    const isEmpty = value === null ? isUnknown : Array.isArray(value) && value.every((one) => one === null);
    if (isStrict(endpoint) && (isEmpty || (isUnknown && !isPlain(value)))) {
      list.push([known, isEmpty ? '' : stringifyJson(value)]);
      continue;
    }
    for (const one of Array.isArray(value) ? (value as readonly JsonValue[]) : [value as JsonValue]) {
      if (one === null && known.endsWith('.region') && Array.isArray(value)) {
        // Each region belongs to the picture at its place in the list.
        list.push([known, '']);
        continue;
      }
      if (one === null && !structured.includes(name)) continue;
      const whole = (one === null || one instanceof JsonObject) && structured.includes(name);
      list.push([known, whole ? stringifyJson(one) : asText(name, one)]);
    }
  }
  return list;
}

/** Whether {@link asText} takes it, or each of its items. */
function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((one) => !Array.isArray(one) && isPlain(one));
  return ['string', 'boolean'].includes(typeof value) || value instanceof JsonNumber;
}

function asText(name: string, value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (value instanceof JsonNumber) return value.text;
  throw badRequest(`Parameter ${quote(name)} must be a string, a number, a boolean or an array of these.`);
}
