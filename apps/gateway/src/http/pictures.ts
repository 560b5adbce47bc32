import type { Endpoint } from '@akin/contract';
import { badRequest, imageTooLarge, quote } from '@akin/domain';
import type { Reservation } from '@akin/runtime';
import type { GatewayLimits } from '../admission/limits.ts';
import type { ParameterList } from '../parameters/parameters.ts';
import type { Body } from './body.ts';
import { MULTIPART_TYPE, readMultipart, textOf } from './multipart.ts';

/** The multipart part that contains a picture. */
export const FILE_PART = 'file';

/** Also `file[]` and `file[0]`, as HTTP clients name the files of an array. */
function isFilePart(name: string): boolean {
  return name.replace(/\[\d*\]$/, '') === FILE_PART;
}

/** The parameters that say what is searched: a picture, or words. */
const INPUT = /^(?:q$|(?:rank\.by|dup\.find|input|tagging\.input)(?:\.|$))/;

/** Pictures that were sent as bytes, by the placeholder of each among the parameters. */
export type Files = ReadonlyMap<string, Uint8Array>;

export const NO_FILES: Files = new Map();

/** Whether an uploaded picture shares its parameter with another one, of which only the first would count. */
export function hasSeveralPictures(parameter: string, list: ParameterList, files: Files): boolean {
  return files.size > 0 && list.filter(([name, value]) => name === parameter && value !== '').length > 1;
}

export interface BodyParameters {
  readonly list: ParameterList;
  readonly files: Files;
}

/** Whether a body of this type is a picture, or may contain some. */
export function mayHavePictures(type: string): boolean {
  return type === MULTIPART_TYPE || isRawPicture(type);
}

/**
 * Parameters of a body with pictures: the parts of a multipart body, or one picture that is the whole body.
 *
 * @param reservation counts its bytes, which stay in memory until the request is answered
 * @throws AkinError bad-request, too-large, too-many-requests
 */
export async function readPictures(
  { pictureParameter = '' }: Endpoint,
  body: Body,
  inUrl: ParameterList,
  reservation: Reservation,
  signal: AbortSignal,
  limits: GatewayLimits,
): Promise<BodyParameters> {
  return isRawPicture(body.type)
    ? readRaw(pictureParameter, body, reservation, limits)
    : readForm(pictureParameter, body, inUrl, reservation, signal, limits);
}

function isRawPicture(type: string): boolean {
  return type === 'application/octet-stream' || type.startsWith('image/');
}

async function readRaw(
  parameter: string,
  body: Body,
  reservation: Reservation,
  limits: GatewayLimits,
): Promise<BodyParameters> {
  const { pictureBytes } = limits;
  if (body.contentLength > pictureBytes) throw imageTooLarge(pictureBytes);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of readReserved(body, limits.parameterBytes, reservation, limits)) {
    length += chunk.length;
    if (length > pictureBytes) throw imageTooLarge(pictureBytes);
    chunks.push(chunk);
  }
  const files = new Map<string, Uint8Array>();
  return { list: [[parameter, addFile(files, requireBytes(Buffer.concat(chunks, length)))]], files };
}

async function readForm(
  parameter: string,
  body: Body,
  inUrl: ParameterList,
  reservation: Reservation,
  signal: AbortSignal,
  limits: GatewayLimits,
): Promise<BodyParameters> {
  const chunks = readReserved(body, limits.multipartBytes, reservation, limits);
  const check = (name: string, bytes: number) => checkPart(name, bytes, limits);
  const accepted = { parts: limits.parameters, check };
  const parts = await readMultipart(body.contentType, chunks, accepted, signal);
  const files = new Map<string, Uint8Array>();
  // Browsers send an empty file for a field in which none was chosen.
  const isEmpty = ({ name, fileName, bytes }: (typeof parts)[number]) =>
    bytes.length === 0 && (fileName !== undefined || isFilePart(name));
  const empty = parts.find(isEmpty);
  const list = parts
    .filter((part) => !isEmpty(part))
    .map((part): [string, string] => {
      if (isFilePart(part.name)) return [parameter, addFile(files, part.bytes)];
      if (part.fileName !== undefined) {
        throw badRequest(`The part ${quote(part.name)} is a file: send a picture as the part "file".`);
      }
      return [part.name, textOf(part)];
    });
  if (empty !== undefined && ![...inUrl, ...list].some(([name, value]) => INPUT.test(name) && value !== '')) {
    throw badRequest(`The part ${quote(empty.name)} is empty: send the bytes of a picture.`);
  }
  return { list, files };
}

/** @throws AkinError too-large for a picture above the limit. Texts are checked like those of other bodies. */
export function checkPart(name: string, bytes: number, { pictureBytes }: GatewayLimits): void {
  if (isFilePart(name) && bytes > pictureBytes) throw imageTooLarge(pictureBytes);
}

/** The bytes of a body, counted before they are kept. */
export async function* readReserved(
  body: Body,
  maxBytes: number,
  reservation: Reservation,
  limits: GatewayLimits,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  reservation.growTo(Math.min(body.contentLength, maxBytes));
  for await (const chunk of body.bytes(maxBytes, limits.parameterMilliseconds)) {
    count += chunk.length;
    reservation.growTo(count);
    yield chunk;
  }
}

function requireBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.length > 0) return bytes;
  throw badRequest('The body is empty: send the bytes of a picture.');
}

function addFile(files: Map<string, Uint8Array>, bytes: Uint8Array): string {
  const name = `(file ${files.size + 1}: ${bytes.length} bytes)`;
  files.set(name, bytes);
  return name;
}
