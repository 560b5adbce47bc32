import type { Endpoint } from '@akin/contract';
import { AkinError, imageTooLarge, quote } from '@akin/domain';
import type { GatewayLimits } from '../admission/limits.ts';
import type { Reservation } from '../admission/memory-budget.ts';
import type { Body } from './body.ts';
import { MULTIPART_TYPE, readMultipart, textOf } from './multipart.ts';
import type { ParameterList } from './parameters.ts';

/** Maximum size of an uploaded picture. The analyzer has its own limits. */
export const MAX_PICTURE_BYTES = 25_000_000;

/** The multipart part that contains a picture. */
export const FILE_PART = 'file';

/** Pictures that were sent as bytes, by the placeholder of each among the parameters. */
export type Files = ReadonlyMap<string, Uint8Array>;

export const NO_FILES: Files = new Map();

/** Whether an uploaded picture shares its parameter with another one, of which only the first would count. */
export function hasSeveralPictures(parameter: string, list: ParameterList, files: Files): boolean {
  return files.size > 0 && list.filter(([name, value]) => name === parameter && value !== '').length > 1;
}

/** Parameters of a body, and the pictures among them. */
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
  reservation: Reservation,
  signal: AbortSignal,
  limits: GatewayLimits,
): Promise<BodyParameters> {
  return isRawPicture(body.type)
    ? readRaw(pictureParameter, body, reservation, limits)
    : readForm(pictureParameter, body, reservation, signal, limits);
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
  if (body.contentLength > MAX_PICTURE_BYTES) throw imageTooLarge(MAX_PICTURE_BYTES);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of readReserved(body, limits.parameterBytes, reservation, limits)) {
    length += chunk.length;
    if (length > MAX_PICTURE_BYTES) throw imageTooLarge(MAX_PICTURE_BYTES);
    chunks.push(chunk);
  }
  const files = new Map<string, Uint8Array>();
  return { list: [[parameter, addFile(files, requireBytes(Buffer.concat(chunks, length), 'The body'))]], files };
}

async function readForm(
  parameter: string,
  body: Body,
  reservation: Reservation,
  signal: AbortSignal,
  limits: GatewayLimits,
): Promise<BodyParameters> {
  const chunks = readReserved(body, limits.multipartBytes, reservation, limits);
  const accepted = { parts: limits.parameters, check: checkPart };
  const parts = await readMultipart(body.contentType, chunks, accepted, signal);
  const files = new Map<string, Uint8Array>();
  const list = parts.map((part): [string, string] => {
    if (part.name === FILE_PART) {
      return [parameter, addFile(files, requireBytes(part.bytes, `The part ${quote(FILE_PART)}`))];
    }
    if (part.isFile) {
      throw new AkinError('bad-request', `The part ${quote(part.name)} is a file: send a picture as the part "file".`);
    }
    return [part.name, textOf(part)];
  });
  return { list, files };
}

/** @throws AkinError too-large for a picture above the limit. Texts are checked like those of other bodies. */
export function checkPart(name: string, bytes: number): void {
  if (name === FILE_PART && bytes > MAX_PICTURE_BYTES) throw imageTooLarge(MAX_PICTURE_BYTES);
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

function requireBytes(bytes: Uint8Array, subject: string): Uint8Array {
  if (bytes.length > 0) return bytes;
  throw new AkinError('bad-request', `${subject} is empty: send the bytes of a picture.`);
}

function addFile(files: Map<string, Uint8Array>, bytes: Uint8Array): string {
  const name = `(file ${files.size + 1}: ${bytes.length} bytes)`;
  files.set(name, bytes);
  return name;
}
