import type { Endpoint } from '@akin/contract';
import { AkinError, JsonNumber, JsonObject, type JsonValue, parseJson } from '@akin/domain';
import type { GatewayLimits } from '../limits.ts';
import type { Body } from './body.ts';
import { isPayload } from './loggable.ts';
import { FormReader, type ParameterList } from './parameters.ts';

export const FORM_TYPE = 'application/x-www-form-urlencoded';
const JSON_TYPES = ['application/json', 'text/json'];

/** The names of Solr's JSON requests for parameters. */
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
 * Parameters of a body: a form, or a flat JSON object where the endpoint takes one.
 *
 * @throws AkinError unsupported-media-type, bad-request, too-large
 */
export async function readBodyParameters(
  endpoint: Endpoint,
  body: Body,
  limits: GatewayLimits,
): Promise<ParameterList> {
  if (!body.sent) return [];
  if (body.type === FORM_TYPE) return requireNoJson(await readForm(body, limits));
  if (endpoint.bodies && isJsonType(body.type)) return readJsonParameters(body, limits);
  throw unreadable(body, endpoint.bodies ? 'application/json or a form' : 'a form');
}

/** The complaint about a body whose type nobody reads here. */
export function unreadable(body: Body, wanted: string): AkinError {
  const what = body.type === '' ? 'A body without Content-Type is not read' : `A body of ${body.type} is not read here`;
  const advice = body.type === 'multipart/form-data' ? ' Encode files as base64 in a form field.' : '';
  return new AkinError('unsupported-media-type', `${what}: send ${wanted}.${advice}`);
}

/** @throws AkinError bad-request for a parameter of absurd length */
export function checkLengths(list: ParameterList, limits: GatewayLimits): void {
  for (const [name, value] of list) {
    if (value.length > limits.parameterLength && !isPayload(name)) {
      const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name;
      throw new AkinError('bad-request', `Parameter ${shown} is longer than ${limits.parameterLength} characters.`);
    }
  }
}

async function readForm(body: Body, limits: GatewayLimits): Promise<ParameterList> {
  const reader = new FormReader(limits.parameters);
  for await (const chunk of body.bytes(limits.parameterBytes, limits.parameterMilliseconds)) reader.write(chunk);
  return reader.end();
}

/** `curl -d` calls every body a form: say what to do instead of taking JSON for the name of a parameter. */
function requireNoJson(list: ParameterList): ParameterList {
  const first = list[0]?.[0].trimStart() ?? '';
  if (!/^[[{<]/.test(first)) return list;
  const type = first.startsWith('<') ? 'application/xml' : 'application/json';
  throw new AkinError(
    'unsupported-media-type',
    `The body came as a form but looks otherwise: send it with Content-Type: ${type}.`,
  );
}

async function readJsonParameters(body: Body, limits: GatewayLimits): Promise<ParameterList> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.bytes(limits.parameterBytes, limits.parameterMilliseconds)) chunks.push(chunk);
  const text = decodeUtf8(Buffer.concat(chunks));
  if (text.trim() === '') return [];
  const value = parseJson(text);
  if (!(value instanceof JsonObject)) {
    throw new AkinError('bad-request', 'A JSON body of parameters is an object of their names and values.');
  }
  return flatten(value);
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AkinError('bad-request', 'The body is not UTF-8.', { cause });
  }
}

function flatten(object: JsonObject): ParameterList {
  const list: [string, string][] = [];
  for (const [name, value] of object.entries) {
    if (name === 'params' && value instanceof JsonObject) {
      list.push(...(flatten(value) as [string, string][]));
      continue;
    }
    const known = Object.hasOwn(JSON_NAMES, name) ? (JSON_NAMES[name] as string) : name;
    for (const one of Array.isArray(value) ? (value as readonly JsonValue[]) : [value as JsonValue]) {
      if (one === null) continue;
      list.push([known, asText(name, one)]);
    }
  }
  return list;
}

function asText(name: string, value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (value instanceof JsonNumber) return value.text;
  throw new AkinError('bad-request', `Parameter ${name} is a text, a number, a boolean or an array of those.`);
}
